/**
 * Guesses cost: an address whose keys or tokens failed too often in a minute is refused before anything is looked up.
 * The answers before that do not count down, since all failures have to look alike.
 */
import type { Domain } from '#libs/store/tenants';
import { clientAddress, network } from './client-address.ts';
import type { Context, Deps } from './context.ts';
import { createLimiter } from './limiter.ts';

export interface FailedCredentials {
  /** Whether the address has failed too often. */
  isSpent(ctx: Context): Promise<boolean>;
  /** Throws a 429 Problem where it has. */
  check(ctx: Context): Promise<void>;
  /** Counts one failure. */
  note(ctx: Context): Promise<void>;
}

const off: FailedCredentials = { isSpent: async () => false, check: async () => {}, note: async () => {} };

export function createFailedCredentials(
  name: 'key' | 'token',
  { config, log }: Pick<Deps, 'config' | 'log'>,
): FailedCredentials {
  const points = config.failureRatePerMinute;
  if (points === 0) return off;
  const limiter = createLimiter({ name: `failed-${name}`, points, log });
  const keyOf = (ctx: Context) => network(clientAddress(ctx));
  const spent = async (ctx: Context) => {
    const use = await limiter.look(keyOf(ctx));
    return use && use.consumed >= points ? use : null;
  };
  return {
    isSpent: async (ctx) => (await spent(ctx)) !== null,
    check: async (ctx) => {
      const use = await spent(ctx);
      if (use) limiter.refuse(ctx, use, `at most ${points} failures a minute from one address`);
    },
    note: async (ctx) => void (await limiter.consume(keyOf(ctx))),
  };
}

/** The domain that the path names; for an address that has failed too often only one that this process knows. */
export async function domainOfPath(
  ctx: Context,
  { tenants, failedKeys }: Pick<Deps, 'tenants'> & { failedKeys: FailedCredentials },
): Promise<Domain | null> {
  const { domainId = '' } = ctx.params;
  const known = tenants.knownDomain(domainId);
  if (known || (await failedKeys.isSpent(ctx))) return known ?? null;
  return tenants.domain(domainId);
}
