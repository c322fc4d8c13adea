/**
 * Guesses cost: an address whose keys or tokens failed too often in a minute is refused before anything is looked up.
 * The answers before that do not count down, since all failures have to look alike. Requests that are under way when the
 * limit is reached were looked up already; that many failures are told and no more.
 */

import type { ApiConfig } from '#libs/config/api';
import type { TenantCache } from '#libs/store/tenants/tenant-cache';
import { apiKeyPattern, type Domain } from '#libs/store/tenants/tenants';
import type { Log } from '#libs/telemetry/log';
import type { Context } from '../http/context.ts';
import { clientAddress, network } from './client-address.ts';
import { createLimiter, type Use } from './limiter.ts';

export interface FailedCredentials {
  /** Whether the address has failed too often. */
  isSpent(ctx: Context): Promise<boolean>;
  /** Throws a 429 Problem where it has. */
  check(ctx: Context): Promise<void>;
  /** Counts one failure. */
  note(ctx: Context): Promise<void>;
  /** The same, for a failure that is to be told: throws a 429 Problem where it is one too many. */
  noteToTell(ctx: Context): Promise<void>;
}

const nothing = async () => {};
const off: FailedCredentials = { isSpent: async () => false, check: nothing, note: nothing, noteToTell: nothing };

export function createFailedCredentials(
  name: 'key' | 'token',
  { config, log }: { config: Pick<ApiConfig, 'failureRatePerMinute'>; log: Log },
): FailedCredentials {
  const points = config.failureRatePerMinute;
  if (points === 0) return off;
  const limiter = createLimiter({ name: `failed-${name}`, points, log });
  const address = (ctx: Context) => network(clientAddress(ctx));
  /** A key that can be none is not looked up, so it spends a budget of its own and leaves the guesses theirs. */
  const malformed = (ctx: Context) =>
    name === 'key' && ctx.method === 'POST' && !apiKeyPattern.test(ctx.get('x-api-key')) ? ' malformed' : '';
  const keyOf = (ctx: Context) => address(ctx) + malformed(ctx);
  const spentOf = async (key: string) => {
    const use = await limiter.look(key);
    return use && use.consumed >= points ? use : null;
  };
  const spent = async (ctx: Context) =>
    (await spentOf(address(ctx))) ?? (malformed(ctx) ? await spentOf(keyOf(ctx)) : null);
  const tooMany = (ctx: Context, use: Use) =>
    limiter.refuse(ctx, use, `at most ${points} failures a minute from one address`);
  return {
    isSpent: async (ctx) => (await spent(ctx)) !== null,
    check: async (ctx) => {
      const use = await spent(ctx);
      if (use) tooMany(ctx, use);
    },
    note: async (ctx) => void (await limiter.consume(keyOf(ctx))),
    noteToTell: async (ctx) => {
      const use = await limiter.consume(keyOf(ctx));
      if (use && use.consumed > points) tooMany(ctx, use);
    },
  };
}

/** The domain that the path names; for an address that has failed too often only one that this process knows. */
export async function domainOfPath(
  ctx: Context,
  { tenants, failedKeys }: { tenants: TenantCache; failedKeys: FailedCredentials },
): Promise<Domain | null> {
  const { domainId = '' } = ctx.params;
  const known = tenants.knownDomain(domainId);
  if (known || (await failedKeys.isSpent(ctx))) return known ?? null;
  return tenants.domain(domainId);
}
