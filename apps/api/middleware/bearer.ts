/** Access tokens: the organization comes from the token alone. */
import jsonwebtoken from 'jsonwebtoken';
import type { TokenConfig } from '#libs/config';
import { Problem } from '#libs/contract/problem';
import type { Organization } from '#libs/store/tenants';
import type { Context, Deps, Middleware } from '../context.ts';

/** seconds that clocks may differ */
const clockTolerance = 30;

export function bearer({ config, tenants }: Pick<Deps, 'config' | 'tenants'>): Middleware {
  return async (ctx, next) => {
    const organizationId = organizationOf(tokenIn(ctx), config.tokens);
    const organization = await tenants.organization(organizationId);
    if (!organization) throw invalidToken('the token names an organization that does not exist');
    ctx.state.organization = organization;
    await next();
  };
}

/** The organization of a request that passed `bearer`. */
export function organizationIn(ctx: Context): Organization {
  if (!ctx.state.organization) throw new Error('the route lacks the bearer middleware');
  return ctx.state.organization;
}

function tokenIn(ctx: Context): string {
  const header = ctx.get('authorization');
  if (!header) {
    throw new Problem('missing_token', 'send Authorization: Bearer <access token>', {
      headers: { 'WWW-Authenticate': 'Bearer realm="assent"' },
    });
  }
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

/** Only the configured algorithm and keys count, whatever the token's own header says. */
function organizationOf(token: string, { algorithm, keys, issuer, audience }: TokenConfig): string {
  let failure: unknown;
  for (const key of keys) {
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

function requireClaims(claims: string | jsonwebtoken.JwtPayload): string {
  if (typeof claims === 'string') throw invalidToken('the token has no claims');
  const { sub, exp, org } = claims;
  if (typeof exp !== 'number') throw invalidToken('the token has no `exp`');
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
