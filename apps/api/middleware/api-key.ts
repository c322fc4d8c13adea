/** The record endpoint's key. Whatever is wrong with it, or with the domain, the answer is the same. */
import { Problem } from '#libs/contract/problem';
import type { Domain } from '#libs/store/tenants';
import type { Context, Deps, Middleware } from '../context.ts';
import type { FailedCredentials } from '../failed-credentials.ts';

export function apiKey({ tenants, failedKeys }: Pick<Deps, 'tenants'> & { failedKeys: FailedCredentials }): Middleware {
  /** What this process knows needs no check: others behind the same address may go on recording. */
  const lookUp = async (ctx: Context, key: string) => {
    await failedKeys.check(ctx);
    return tenants.domainOfKey(key);
  };
  return async (ctx, next) => {
    const key = ctx.get('x-api-key');
    const domain = tenants.knownDomainOfKey(key) ?? (await lookUp(ctx, key));
    if (!domain || domain.domainId !== ctx.params.domainId) {
      await failedKeys.check(ctx);
      await failedKeys.noteToTell(ctx);
      throw new Problem('invalid_api_key', 'send the x-api-key of this domain');
    }
    ctx.state.domain = domain;
    return next();
  };
}

/** The domain of a request that passed `apiKey`. */
export function domainIn(ctx: Context): Domain {
  if (!ctx.state.domain) throw new Error('the route lacks the apiKey middleware');
  return ctx.state.domain;
}
