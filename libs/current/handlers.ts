/** What visitors allow now. No plan gates it, and it is no administrative act. */
import { groupBy } from '#libs/base/group-by';
import type { Context, Middleware } from '#libs/base/http/context';
import { guard, requireDecodable } from '#libs/base/http/guard';
import { createLimiter, type Limiter } from '#libs/base/http/limiter';
import type { StoredThrough } from '#libs/record/stored-through';
import { accessIn, organizationIn } from '#libs/tenants/bearer';
import { requireOwnDomain } from '#libs/tenants/requirements';
import type { CurrentOfMany, CurrentOfOne } from './contract.ts';
import { consentInForce } from './in-force.ts';
import type { CurrentMetrics } from './metrics.ts';
import type { NewestReader } from './newest.ts';
import { currentRoutes } from './routes.ts';

export interface CurrentParts {
  newest: NewestReader;
  storedThrough: StoredThrough;
  currentLimit: Limiter;
  metrics: CurrentMetrics;
}

/** Ids per access token. */
export const createLookupLimit = (limit: number): Limiter =>
  createLimiter({
    name: 'current',
    limit,
    detail: `at most ${limit} visitors a minute with one access token`,
    showsRemaining: true,
  });

async function lookUp(ctx: Context, parts: CurrentParts, domainId: string, visitorIds: string[]) {
  const { organizationId, ...organization } = organizationIn(ctx);
  requireOwnDomain({ organizationId, ...organization }, domainId);
  parts.currentLimit.admit(ctx, accessIn(ctx).countedAs, visitorIds.length);
  // read before the records, so that they are at least as new as `asOf` claims
  const asOf = parts.storedThrough.of(organizationId);
  const newest = await parts.newest.read(organizationId, domainId, visitorIds);
  const current = visitorIds.map((id, at) => consentInForce(domainId, id, newest[at], ctx.state.receivedAt));
  const results = groupBy(current, ({ reason }) => reason ?? 'valid');
  for (const [result, { length }] of results) parts.metrics.currentLookUps.inc({ result }, length);
  return { asOf: asOf === null ? null : new Date(asOf).toISOString(), current };
}

export const lookUpCurrent = (parts: CurrentParts): Middleware =>
  guard(currentRoutes.lookUpCurrent, async (ctx, { params, body }) => {
    ctx.body = (await lookUp(ctx, parts, params.domainId, body.visitorIds)) satisfies CurrentOfMany;
  });

export const getCurrent = (parts: CurrentParts): Middleware =>
  guard(currentRoutes.getCurrent, async (ctx, { params }) => {
    requireDecodable(ctx.path, 'visitorId');
    const { asOf, current } = await lookUp(ctx, parts, params.domainId, [params.visitorId]);
    const [one] = current;
    if (!one) throw new Error('the visitor has no state');
    ctx.body = { ...one, asOf } satisfies CurrentOfOne;
  });
