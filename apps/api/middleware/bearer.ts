/** Access tokens: the organization comes from the token alone. */
import type { KeyObject } from 'node:crypto';
import jsonwebtoken from 'jsonwebtoken';
import type { TokenConfig } from '#libs/config';
import { Problem } from '#libs/contract/problem';
import type { Organization } from '#libs/store/tenants';
import type { Context, Deps, Middleware } from '../context.ts';
import { createFailedCredentials } from '../failed-credentials.ts';

/** seconds that clocks may differ */
const clockTolerance = 30;

export function bearer(deps: Pick<Deps, 'config' | 'log' | 'tenants'>): Middleware {
  const { config, tenants } = deps;
  const failed = createFailedCredentials('token', deps);
  const organizationOfToken = async (token: string): Promise<Organization> => {
    const organization = await tenants.organization(organizationOf(token, config.tokens));
    if (!organization) throw invalidToken('the token names an organization that does not exist');
    return organization;
  };
  return async (ctx, next) => {
    const authorization = authorizationIn(ctx);
    await failed.check(ctx);
    try {
      const token = tokenIn(authorization);
      ctx.state.organization = await organizationOfToken(token);
      ctx.state.token = token;
    } catch (error) {
      if (error instanceof Problem && error.code === 'invalid_token') await failed.note(ctx);
      throw error;
    }
    await next();
  };
}

/** The organization of a request that passed `bearer`. */
export function organizationIn(ctx: Context): Organization {
  if (!ctx.state.organization) throw new Error('the route lacks the bearer middleware');
  return ctx.state.organization;
}

/** The token of a request that passed `bearer`. */
export function tokenOf(ctx: Context): string {
  if (!ctx.state.token) throw new Error('the route lacks the bearer middleware');
  return ctx.state.token;
}

function authorizationIn(ctx: Context): string {
  const header = ctx.get('authorization');
  if (header) return header;
  throw new Problem('missing_token', 'send Authorization: Bearer <access token>', {
    headers: { 'WWW-Authenticate': 'Bearer realm="assent"' },
  });
}

function tokenIn(header: string): string {
  const token = /^Bearer +([A-Za-z0-9._~+/=-]{1,8192})$/i.exec(header)?.[1];
  if (!token) throw invalidToken('the Authorization header is not of the form Bearer <access token>');
  return token;
}

function invalidToken(detail: string, cause?: unknown): Problem {
  return new Problem('invalid_token', detail, {
    cause,
    headers: { 'WWW-Authenticate': 'Bearer realm="assent", error="invalid_token"' },
  });
}

/** Only the configured algorithm and keys count, whatever the token's own header says: it may at most name one of them. */
function organizationOf(token: string, config: TokenConfig): string {
  const { algorithm, issuer, audience } = config;
  let failure: unknown;
  for (const key of keysNamedBy(token, config)) {
    try {
      const claims = jsonwebtoken.verify(token, key, {
        algorithms: [algorithm],
        clockTolerance,
        ...(issuer && { issuer }),
        ...(audience && { audience }),
      });
      return requireClaims(claims);
    } catch (error) {
      if (error instanceof Problem) throw error;
      failure = error;
    }
  }
  throw invalidToken(reasonOf(failure), failure);
}

/** Where ids are configured they are the list of those that `kid` may name. */
function keysNamedBy(token: string, { keys, keysById }: TokenConfig): KeyObject[] {
  const header = headerOf(token);
  // what the token says must be understood, is not (RFC 7515, 4.1.11)
  if (!header || 'crit' in header) return [];
  if (keysById.size === 0 || !('kid' in header)) return keys;
  const named = keysById.get(String(header.kid));
  return named ? [named] : [];
}

function headerOf(token: string): object | null {
  try {
    const header: unknown = JSON.parse(Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString());
    return typeof header === 'object' ? header : null;
  } catch {
    return null;
  }
}

function requireClaims(claims: string | jsonwebtoken.JwtPayload): string {
  if (typeof claims === 'string') throw invalidToken('the token has no claims');
  const { sub, exp, org } = claims;
  if (!Number.isFinite(exp)) throw invalidToken('the token has no `exp`');
  if (typeof sub !== 'string' || sub === '') throw invalidToken('the token has no `sub`');
  if (typeof org !== 'string' || org === '') throw invalidToken('the token has no `org`');
  if (!/^[\w-]{1,64}$/.test(org)) throw invalidToken('the token names an organization that does not exist');
  return org;
}

function reasonOf(failure: unknown): string {
  if (failure instanceof jsonwebtoken.TokenExpiredError) return 'the token has expired';
  if (failure instanceof jsonwebtoken.NotBeforeError) return 'the token is not valid yet';
  return 'the token was not issued for this service';
}
