/**
 * Guessing is limited: an address whose keys or tokens failed too often in a minute is refused before anything is looked
 * up. No header counts down before the limit, because all failures must look the same.
 */

import { clientAddress, network } from '#libs/base/http/client-address';
import type { Context } from '#libs/base/http/context';
import { createLimiter } from '#libs/base/http/limiter';
import type { TenantCache } from './tenant-cache.ts';
import { apiKeyPattern, type Domain } from './tenants.ts';

export interface FailedCredentials {
  /** Throws the 429 Problem if this address has failed too often. */
  check(ctx: Context): void;
  /** Whether this address has reached the limit. */
  isReached(ctx: Context): boolean;
  /** Counts a failure. */
  count(ctx: Context): void;
  /** Counts a failure; throws the 429 Problem if it exceeds the limit. */
  countOrThrow(ctx: Context): void;
}

/** `limit`: failures a minute; 0: any number. */
export function createFailedCredentials(name: 'key' | 'token', limit: number): FailedCredentials {
  const options = { limit, detail: `at most ${limit} failures a minute from one address` };
  const guesses = createLimiter({ name: `failed-${name}`, ...options });
  // malformed keys are never looked up, so they do not use up the limit of others behind the same address
  const malformed = createLimiter({ name: `malformed-${name}`, ...options });
  const isMalformed = (ctx: Context) =>
    name === 'key' && ctx.method !== 'OPTIONS' && !apiKeyPattern.test(ctx.get('x-api-key'));
  const budgetOf = (ctx: Context) => (isMalformed(ctx) ? malformed : guesses);
  const address = (ctx: Context) => network(clientAddress(ctx));
  return {
    check: (ctx) => {
      guesses.check(ctx, address(ctx));
      if (isMalformed(ctx)) malformed.check(ctx, address(ctx));
    },
    isReached: (ctx) => guesses.isReached(address(ctx)) || (isMalformed(ctx) && malformed.isReached(address(ctx))),
    count: (ctx) => budgetOf(ctx).count(address(ctx)),
    countOrThrow: (ctx) => budgetOf(ctx).admit(ctx, address(ctx)),
  };
}

/** The domain in the path. For an address at its limit, nothing is looked up: null unless it is in memory. */
export async function domainOfPath(
  ctx: Context,
  { tenants, failedKeys }: { tenants: TenantCache; failedKeys: FailedCredentials },
): Promise<Domain | null> {
  const { domainId = '' } = ctx.params;
  const known = tenants.knownDomain(domainId);
  if (known || failedKeys.isReached(ctx)) return known ?? null;
  return tenants.domain(domainId);
}
