/**
 * Counts refused records by reason, so that a flood of them is visible at once, and logs their domains. A metric with a
 * label for the domain would have a series for each domain and reason in every process.
 */
import { LRUCache } from 'lru-cache';
import type { Context } from '#libs/base/http/context';
import { toProblem } from '#libs/base/http/exchange';
import type { Log } from '#libs/base/ops/process-log';
import { domainOfPath, type FailedCredentials } from '#libs/tenants/failed-credentials';
import type { TenantCache } from '#libs/tenants/tenant-cache';
import type { RecordMetrics } from './metrics.ts';

/** Milliseconds until a domain is logged again for the same reason, and how many are remembered. */
const silence = 60 * 60 * 1_000;
const remembered = 10_000;

/** Only existing domains are logged; otherwise anyone could fill the log. The response does not wait for this. */
export function countRefusal(deps: {
  log: Pick<Log, 'warn'>;
  metrics: RecordMetrics;
  tenants: TenantCache;
  failedKeys: FailedCredentials;
}): (ctx: Context, error: unknown) => void {
  const logged = new LRUCache<string, true>({ max: remembered, ttl: silence });
  const report = async (ctx: Context, code: string) => {
    const domain = await domainOfPath(ctx, deps).catch(() => null);
    const key = `${code} ${domain?.domainId}`;
    if (!domain || logged.has(key)) return;
    logged.set(key, true);
    deps.log.warn({ event: 'refused', code, domainId: domain.domainId }, 'records of a domain are refused');
  };
  return (ctx, error) => {
    const { code } = toProblem(error);
    deps.metrics.refusals.inc({ code });
    void report(ctx, code);
  };
}
