/** One worker: connects, consumes and maintains, and stops in order. It knows neither signals nor exit codes. */
import { BadSetting } from '#libs/base/config/read';
import { failingOf } from '#libs/base/db/key-fingerprints';
import { inOrder, type Running } from '#libs/base/lifecycle';
import { createOpsServer } from '#libs/base/ops/port';
import { listenForOperators } from '#libs/base/ops/port-address';
import type { ProcessLog } from '#libs/base/ops/process-log';
import { isPostgresUsable } from '#libs/base/ops/readiness';
import { askPostgres, createAskedGauges, type GaugeQuery } from '#libs/base/ops/sampled-gauges';
import { createStoreGauges, housekeepingBacklog } from '#libs/base/ops/store-gauges';
import { version } from '#libs/base/version';
import { retentionBacklog } from '#libs/privacy/metrics';
import { queueGauges, recordBacklog } from '#libs/record/metrics';
import { observeQueues } from '#libs/record/queue-summary';
import { statsBacklog } from '#libs/stats/metrics';
import { webhookBacklog } from '#libs/webhooks/metrics';
import { observe, warnOfMissingKeys } from '../process/observe.ts';
import type { WorkerConfig } from '../settings/worker.ts';
import { type Background, scheduleBackground } from './background.ts';
import { createConsumer } from './consume.ts';
import { derivationsOf } from './deriving.ts';
import { workerReadiness } from './readiness.ts';
import { connections, type Observed, openStores, type Queues, type Stores } from './stores.ts';

interface WorkerOptions {
  /** How many milliseconds count as a second in the worker's timings; default 1,000. Tests shorten it. */
  second?: number;
  log: ProcessLog;
}

interface RunningWorker extends Running {
  opsPort: number;
}

/** Rejects with a BadSetting where the operations port cannot be opened, or a key is not in force. */
export async function openWorker(config: WorkerConfig, { second = 1_000, log }: WorkerOptions): Promise<RunningWorker> {
  const observed = await observe('assent-worker', config, log);
  const { metrics, tracing, queueTracing } = observed;
  const stores = openStores(config, observed, log);
  const { pools, clock, keys, queueRedis, redis, redisHealth } = stores;
  const queues = observeQueues(queueRedis, config.queueShards);

  const consumer = createConsumer({
    config,
    queueRedis,
    redis,
    db: stores.recordingDb,
    log,
    metrics,
    tracing,
    queueTracing,
    second,
  });
  const background = scheduleBackground(config, observed, stores, queues, { second, log });
  createGauges(config, observed, stores, queues, background);
  const ops = createOpsServer({
    name: 'worker',
    readiness: () => workerReadiness({ pools, client: redis.client, redisHealth }),
    shards: queues.summarize,
    metrics: async () => ({ type: metrics.register.contentType, text: await metrics.register.metrics() }),
  });

  // every pool is shown the error, since it does not say whose connection it was
  const recover = (error: unknown) => pools.map((each) => each.recover(error)).includes(true);
  const stop = inOrder(
    [
      { name: 'keys', stop: () => keys.close() },
      { name: 'deriving', stop: () => background.deriving.close() },
      { name: 'background tasks', stop: () => background.scheduler.close() },
      { name: 'delivering', stop: () => background.delivering.close() },
      { name: 'consumer', stop: () => consumer.close() },
      { name: 'queues', stop: () => queues.close() },
      { name: 'clock', stop: async () => clock.close() },
      { name: 'redis health', stop: () => redisHealth.close() },
      { name: 'redis', stop: () => Promise.all([queueRedis.close(), redis.close()]) },
      { name: 'postgres', stop: () => Promise.all(pools.map((each) => each.close())) },
      { name: 'tracing', stop: () => tracing?.close() },
      { name: 'operations port', stop: () => ops.close() },
    ],
    log,
  );

  try {
    await keys.tried;
    const opsPort = await listenForOperators(ops, config.opsHost, config.opsPort);
    warnOfSettings(config, log);
    const { concurrency, queueShards: shards } = config;
    log.info({ event: 'working', version, opsPort, concurrency, shards }, 'working');
    return { opsPort, stop, recover, failing: failingOf(keys) };
  } catch (error) {
    await stop();
    throw new BadSetting(error instanceof Error ? error.message : String(error));
  }
}

function warnOfSettings(config: WorkerConfig, log: ProcessLog): void {
  if (!config.sealing)
    log.warn({ event: 'not_sealed' }, 'records are not sealed: LOG_KEY is not set, or SEAL_SECONDS is 0');
  warnOfMissingKeys(config, log);
  if (config.webhookReach.allowPrivate)
    log.warn({ event: 'webhooks_private' }, 'WEBHOOK_ALLOW_PRIVATE is set: webhooks may lead to this machine');
}

function createGauges(
  config: WorkerConfig,
  { metrics, failed }: Observed,
  stores: Stores,
  queues: Queues,
  { housekeeping }: Background,
): void {
  const { register } = metrics;
  const { db, recordingDb, deliveryDb, pools, redisHealth, clock } = stores;
  createAskedGauges(register, queueGauges, queues.summarize, failed('observe_queues'));
  const show = <Seen>(question: GaugeQuery<Seen>) =>
    createAskedGauges(register, question.gauges, () => askPostgres(db, question), failed('observe_backlog'));
  show(recordBacklog(derivationsOf(config).map(({ name }) => name)));
  show(statsBacklog);
  show(webhookBacklog);
  show(retentionBacklog);
  show(housekeepingBacklog(housekeeping));
  createStoreGauges(register, {
    isPostgresUsable: () => isPostgresUsable(pools),
    redisMemory: redisHealth.memory,
    clockSkew: clock.skew,
    pools: {
      main: { running: db.running, connections: connections.main },
      recording: { running: recordingDb.running, connections: connections.recording },
      delivery: { running: deliveryDb.running, connections: connections.delivery },
    },
  });
}
