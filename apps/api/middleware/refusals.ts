/** Counts refused records by reason and domain, so that a flood of them shows at once. */
import { Problem } from '#libs/contract/problem';
import type { Context, Deps, Middleware } from '../context.ts';
import { domainOfPath, type FailedCredentials } from '../failed-credentials.ts';

export function countRefusals(deps: Pick<Deps, 'metrics' | 'tenants'> & { failedKeys: FailedCredentials }): Middleware {
  /** Only domains that exist get a label, or anyone could make the metrics grow. The answer does not wait for this. */
  const count = async (ctx: Context, code: string) => {
    const domain = await domainOfPath(ctx, deps).catch(() => null);
    deps.metrics.refusals.inc({ code, domain: domain?.domainId ?? '' });
  };
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      void count(ctx, error instanceof Problem ? error.code : 'internal_error');
      throw error;
    }
  };
}
