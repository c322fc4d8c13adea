/** The record endpoint's key. Whatever is wrong with it, or with the domain, the answer is the same. */
import { Problem } from '#libs/contract/problem';
import type { Domain } from '#libs/store/tenants';
import type { Context, Deps, Middleware } from '../context.ts';

export function apiKey({ tenants }: Pick<Deps, 'tenants'>): Middleware {
  return async (ctx, next) => {
    const domain = await tenants.domainOfKey(ctx.get('x-api-key'));
    if (!domain || domain.domainId !== ctx.params.domainId) {
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
