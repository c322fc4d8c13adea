/** Counts refused records by reason and domain, so that a flood of them is visible at once. */
import { Problem } from '#libs/contract/problem';
import type { TenantCache } from '#libs/store/tenants/tenant-cache';
import type { Metrics } from '#libs/telemetry/metrics';
import { domainOfPath, type FailedCredentials } from '../access/failed-credentials.ts';
import type { Context } from '../http/context.ts';

/** Only existing domains become a label; otherwise anyone could make the metrics grow. The answer does not wait for this. */
export function countRefusal(deps: {
  metrics: Metrics;
  tenants: TenantCache;
  failedKeys: FailedCredentials;
}): (ctx: Context, error: unknown) => void {
  const count = async (ctx: Context, code: string) => {
    const domain = await domainOfPath(ctx, deps).catch(() => null);
    deps.metrics.refusals.inc({ code, domain: domain?.domainId ?? '' });
  };
  return (ctx, error) => void count(ctx, error instanceof Problem ? error.code : 'internal_error');
}
