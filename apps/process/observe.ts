/**
 * What both the API and the worker report: the metrics of all rooms, traces, whether Redis is usable, and which keys are
 * missing.
 */
import { type BaseMetrics, countFailures, createBaseMetrics } from '#libs/base/ops/metrics';
import type { ProcessLog } from '#libs/base/ops/process-log';
import type { RedisClient, Role } from '#libs/base/redis/connection';
import { watchRedis } from '#libs/base/redis/health';
import { createCurrentMetrics } from '#libs/current/metrics';
import { createPeopleMetrics } from '#libs/people/metrics';
import { createProofMetrics } from '#libs/proof/metrics';
import { createRecordMetrics } from '#libs/record/metrics';
import { createStatsMetrics } from '#libs/stats/metrics';
import { createTenantMetrics } from '#libs/tenants/metrics';
import { createWebhookMetrics } from '#libs/webhooks/metrics';
import type { readTracing } from '../settings/shared.ts';

/** `service`: the name of the process in traces. */
export async function observe(
  service: string,
  { tracing: traced }: { tracing: ReturnType<typeof readTracing> },
  log: ProcessLog,
) {
  const base = createBaseMetrics();
  const { register } = base;
  const metrics = {
    ...base,
    ...createRecordMetrics(register),
    ...createStatsMetrics(register),
    ...createProofMetrics(register),
    ...createWebhookMetrics(register),
    ...createTenantMetrics(register),
    ...createPeopleMetrics(register),
    ...createCurrentMetrics(register),
  };
  log.onSuppressed((level) => metrics.suppressedLines.inc({ level }));
  const failed = (task: string) => countFailures(metrics, task);
  const tracing =
    traced &&
    (await import('#libs/base/ops/opentelemetry/open')).openTracing({
      service,
      ...traced,
      log,
      onFailure: failed('export_spans'),
    });
  const queueTracing = tracing && (await import('#libs/record/queue-tracing')).createQueueTracing();
  return { metrics, failed, tracing, queueTracing };
}

/** `words`: the log messages for a change. */
export const observeRedis = (
  client: RedisClient,
  { metrics, log }: { metrics: BaseMetrics; log: ProcessLog },
  words: { usable: string; unusable: string },
  role: Role,
) =>
  watchRedis(
    client,
    (reason) => {
      metrics.redisUsable.set(reason === null ? 1 : 0);
      if (reason === null) log.info({}, words.usable);
      else log.warn({ reason }, words.unusable);
    },
    (warnings) => log.warn({ event: 'redis_settings', warnings }, 'Redis is not set up for an outage'),
    role,
  );

interface Keys {
  privacyKey: Buffer | undefined;
  secretsKey: Buffer | undefined;
}

/** Logs each missing key at start: otherwise it would be noticed only when somebody asks to be erased. */
export function warnOfMissingKeys({ privacyKey, secretsKey }: Keys, log: Pick<ProcessLog, 'warn'>): void {
  if (!privacyKey)
    log.warn(
      { event: 'no_privacy_key' },
      'visitors can be neither looked up nor erased, and no erasure is repeated: PRIVACY_KEY is not set',
    );
  if (!secretsKey)
    log.warn(
      { event: 'no_secrets_key' },
      'there are no webhooks, accounts and site checks, and no Idempotency-Key where a response has secrets: SECRETS_KEY is not set',
    );
}
