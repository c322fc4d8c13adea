/**
 * Middleware for requests with an access token: verifies it, finds the organization (which the token alone decides), and
 * enforces scopes and rate limits.
 */

import type { Context, Middleware } from '#libs/base/http/context';
import { createLimiter } from '#libs/base/http/limiter';
import { Problem } from '#libs/base/terms/problem';
import { type Scope, scopes } from '#libs/base/terms/terms';
import { type AccessToken, createAccessTokens, invalidToken, type TokenConfig } from './access-token.ts';
import type { FailedCredentials } from './failed-credentials.ts';
import type { TenantCache } from './tenant-cache.ts';
import type { Organization } from './tenants.ts';

declare module '#libs/base/http/context' {
  interface State {
    /** the organization of the access token */
    organization?: Organization | undefined;
    access?: AccessToken;
  }
}

export function bearer({
  config,
  tenants,
  failedTokens,
}: {
  config: { tokens: TokenConfig };
  tenants: TenantCache;
  failedTokens: FailedCredentials;
}): Middleware {
  const accessTokens = createAccessTokens(config.tokens);
  /** Why the token is refused. The organization is looked up for each request, so that a change is in force at once. */
  const refusalOf = async (ctx: Context, access: AccessToken): Promise<string | undefined> => {
    const { organizationId, personId, issuedAt, jti } = access;
    let organization = await tenants.organization(organizationId);
    if (personId !== undefined && !organization?.people.has(personId)) {
      // another process may have added the person a moment ago
      await tenants.catchUp();
      organization = await tenants.organization(organizationId);
      if (organization && !organization.people.has(personId)) return 'the person has no rights in the organization';
    }
    if (!organization) return 'the token names an organization that does not exist';
    const { tokensSince, revokedTokens } = organization;
    if (tokensSince && issuedAt * 1000 < tokensSince.getTime()) return 'the token was revoked';
    if (jti !== undefined && revokedTokens.has(jti)) return 'the token was revoked';
    ctx.state.organization = organization;
    return undefined;
  };
  /** A token known to this process skips the limit on failures, so guesses from the same address cannot block it. */
  const accessOf = async (ctx: Context, token: string | undefined): Promise<AccessToken> => {
    const known = token && accessTokens.known(token);
    if (known) {
      if ((await refusalOf(ctx, known)) === undefined) return known;
      accessTokens.forget(token);
    }
    failedTokens.check(ctx);
    if (!token) throw invalidToken('the Authorization header must be: Bearer <access token>');
    const access = await accessTokens.verify(token);
    const refused = await refusalOf(ctx, access);
    if (refused !== undefined) throw invalidToken(refused);
    accessTokens.remember(token, access);
    return access;
  };
  return async (ctx, next) => {
    const authorization = authorizationIn(ctx);
    try {
      ctx.state.access = withRights(await accessOf(ctx, tokenIn(authorization)), organizationIn(ctx));
      ctx.state.trace?.trust();
    } catch (error) {
      if (error instanceof Problem && error.code === 'invalid_token') failedTokens.countOrThrow(ctx);
      throw error;
    }
    await next();
  };
}

/** A person's scopes are read for each request, so that a change applies at once. */
function withRights(access: AccessToken, { people }: Organization): AccessToken {
  const { personId } = access;
  return personId === undefined ? access : { ...access, scopes: people.get(personId) ?? [] };
}

/** The organization of a request that passed `bearer`. */
export function organizationIn(ctx: Context): Organization {
  if (!ctx.state.organization) throw new Error('the route lacks the bearer middleware');
  return ctx.state.organization;
}

/** The access of a request that passed `bearer`. */
export function accessIn(ctx: Context): AccessToken {
  if (!ctx.state.access) throw new Error('the route lacks the bearer middleware');
  return ctx.state.access;
}

/** Requires one of these scopes. */
export function scope(...oneOf: [Scope, ...Scope[]]): Middleware {
  return (ctx, next) => {
    requireScope(accessIn(ctx), ...oneOf);
    return next();
  };
}

/** Requires any scope of this service: a token that was issued for something else has none. */
export const someScope: Middleware = (ctx, next) => {
  if (accessIn(ctx).scopes.length > 0) return next();
  throw lacking('the access token has none of the scopes of this service', scopes.join(' '));
};

/** Throws a 403 without one of these scopes. For handlers in which the request decides which scope is needed. */
export function requireScope({ scopes: held }: AccessToken, ...oneOf: [Scope, ...Scope[]]): void {
  if (oneOf.some((needed) => held.includes(needed))) return;
  throw lacking(`the access token lacks the scope ${oneOf.join(' or ')}`, oneOf.join(' '));
}

/** `needed`: separated by spaces (RFC 6750, section 3); where one of several is enough, the detail says so. */
const lacking = (detail: string, needed: string): Problem =>
  new Problem('insufficient_scope', detail, {
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${needed}"` },
  });

function authorizationIn(ctx: Context): string {
  const header = ctx.get('authorization');
  if (header) return header;
  throw new Problem('missing_token', 'send Authorization: Bearer <access token>', {
    headers: { 'WWW-Authenticate': 'Bearer realm="assent"' },
  });
}

const tokenIn = (header: string): string | undefined => /^Bearer +([A-Za-z0-9._~+/=-]{1,8192})$/i.exec(header)?.[1];

/** Reads per access token. */
export function readRateLimit(limit: number): Middleware {
  const detail = `at most ${limit} reads a minute with one access token`;
  const limiter = createLimiter({ name: 'read', limit, detail, showsRemaining: true });
  return (ctx, next) => {
    limiter.admit(ctx, accessIn(ctx).countedAs);
    return next();
  };
}

/** Limited per organization, because each change writes an administrative act that every process has to read. */
export const changeRateLimit = (limit: number): Middleware => perOrganization('change', limit, 'changes');

/** Revocations of keys and tokens have a limit of their own, so that other changes cannot delay them. */
export const revocationRateLimit = (limit: number): Middleware => perOrganization('revocation', limit, 'revocations');

function perOrganization(name: string, limit: number, what: string): Middleware {
  const limiter = createLimiter({
    name,
    limit,
    detail: `at most ${limit} ${what} a minute in one organization`,
    showsRemaining: true,
  });
  return (ctx, next) => {
    limiter.admit(ctx, accessIn(ctx).organizationId);
    return next();
  };
}
