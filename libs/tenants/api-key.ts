/**
 * The API key of what pages send, and how much of it may come with it. Whatever is wrong with the key or with the domain,
 * the answer is the same.
 */

import { clientAddress, network } from '#libs/base/http/client-address';
import type { Context, Step } from '#libs/base/http/context';
import { createLimiter } from '#libs/base/http/limiter';
import { Problem } from '#libs/base/terms/problem';
import type { FailedCredentials } from './failed-credentials.ts';
import type { TenantCache } from './tenant-cache.ts';
import type { Domain } from './tenants.ts';

declare module '#libs/base/http/context' {
  interface State {
    /** the domain of the API key */
    domain?: Domain;
  }
}

export function apiKey({ tenants, failedKeys }: { tenants: TenantCache; failedKeys: FailedCredentials }): Step {
  const lookUp = async (ctx: Context, known: Domain | undefined) => {
    failedKeys.check(ctx);
    const domain = known ?? (await tenants.domainOfKey(ctx.get('x-api-key')));
    if (!domain || domain.domainId !== ctx.params.domainId) {
      failedKeys.countAnswered(ctx);
      throw new Problem('invalid_api_key', 'send the x-api-key of this domain');
    }
    ctx.state.domain = domain;
  };
  return (ctx) => {
    // a key known to this process skips the limit on failures: others behind the same address go on recording
    const known = tenants.knownDomainOfKey(ctx.get('x-api-key'));
    if (!known || known.domainId !== ctx.params.domainId) return lookUp(ctx, known);
    ctx.state.domain = known;
    return undefined;
  };
}

/** The domain of a request that passed `apiKey`. */
export function domainIn(ctx: Context): Domain {
  if (!ctx.state.domain) throw new Error('the route lacks the apiKey middleware');
  return ctx.state.domain;
}

/** `limit`: a minute, per client network and domain; 0: any number. */
export function pageRateLimit(name: 'record' | 'display', limit: number): Step {
  const detail = `at most ${limit} ${name}s a minute from one address`;
  const limiter = createLimiter({ name, limit, detail });
  return (ctx) => limiter.admit(ctx, `${network(clientAddress(ctx))} ${domainIn(ctx).domainId}`);
}
