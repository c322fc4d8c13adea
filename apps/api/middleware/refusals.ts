/** Counts refused records by reason and domain, so that a flood of them shows at once. */
import { Problem } from '#libs/contract/problem';
import type { Context, Deps } from '../context.ts';
import { domainOfPath, type FailedCredentials } from '../failed-credentials.ts';
import type { Step } from '../steps.ts';

export function countRefusals(
  deps: Pick<Deps, 'metrics' | 'tenants'> & { failedKeys: FailedCredentials },
  handle: (ctx: Context) => Promise<void>,
): Step {
  /** Only domains that exist get a label, or anyone could make the metrics grow. The answer does not wait for this. */
  const count = async (ctx: Context, code: string) => {
    const domain = await domainOfPath(ctx, deps).catch(() => null);
    deps.metrics.refusals.inc({ code, domain: domain?.domainId ?? '' });
  };
  return (ctx) =>
    handle(ctx).catch((error: unknown) => {
      void count(ctx, error instanceof Problem ? error.code : 'internal_error');
      throw error;
    });
}
