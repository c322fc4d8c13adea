/** Access tokens: verified, and remembered by their hash while they are valid. */
import { hash, type KeyObject } from 'node:crypto';
import jsonwebtoken from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import type { TokenConfig } from '#libs/config/token-keys';
import { Problem } from '#libs/contract/problem';
import { type Scope, scopesAmong } from '#libs/contract/terms';

/** seconds of clock skew that are tolerated */
const clockTolerance = 30;
/** Some 300 bytes each. */
const maxKnown = 10_000;

export interface AccessToken {
  organizationId: string;
  /** whom it was issued for, as administrative acts name them */
  subject: string;
  scopes: Scope[];
  /** Unix seconds */
  exp: number;
  /** Unix seconds; 0 where the token does not say */
  issuedAt: number;
  /** identifies the token in limits: one payload may have several valid signatures and spellings of them */
  countedAs: string;
}

export interface AccessTokens {
  /** Throws an `invalid_token` Problem. */
  verify(token: string): AccessToken;
  /** Call it once the organization was found, too. */
  remember(token: string, access: AccessToken): void;
  /** A token that is remembered and has not expired since. */
  known(token: string): AccessToken | undefined;
  forget(token: string): void;
}

const digest = (text: string): string => hash('sha256', text, 'base64');

export function createAccessTokens(config: TokenConfig): AccessTokens {
  const found = new LRUCache<string, AccessToken>({ max: maxKnown });
  return {
    known: (token) => {
      const access = found.get(digest(token));
      return access && Date.now() / 1000 < access.exp + clockTolerance ? access : undefined;
    },
    verify: (token) => {
      const { org, ...claims } = claimsOf(token, config);
      return { organizationId: org, ...claims, countedAs: digest(token.slice(0, token.lastIndexOf('.'))) };
    },
    remember: (token, access) => void found.set(digest(token), access),
    forget: (token) => void found.delete(digest(token)),
  };
}

export function invalidToken(detail: string, cause?: unknown): Problem {
  return new Problem('invalid_token', detail, {
    cause,
    headers: { 'WWW-Authenticate': 'Bearer realm="assent", error="invalid_token"' },
  });
}

interface Claims extends Pick<AccessToken, 'subject' | 'scopes' | 'exp' | 'issuedAt'> {
  org: string;
}

/** Only the configured algorithm and keys count. The token's header may at most name one of these keys. */
function claimsOf(token: string, config: TokenConfig): Claims {
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

/** Where key ids are configured, `kid` must name one of them. */
function keysNamedBy(token: string, { keys, keysById }: TokenConfig): KeyObject[] {
  const header = headerOf(token);
  // an extension that must be understood and is not (RFC 7515, 4.1.11)
  if (!header || 'crit' in header) return [];
  if (!('kid' in header)) return keys;
  // RFC 7515, 4.1.4
  if (typeof header.kid !== 'string') return [];
  if (keysById.size === 0) return keys;
  const named = keysById.get(header.kid);
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

function requireClaims(claims: string | jsonwebtoken.JwtPayload): Claims {
  if (typeof claims === 'string') throw invalidToken('the token has no claims');
  const { sub, exp, iat, org, scope } = claims;
  if (exp === undefined || !Number.isFinite(exp)) throw invalidToken('the token has no `exp`');
  if (typeof sub !== 'string' || sub === '') throw invalidToken('the token has no `sub`');
  if (typeof org !== 'string' || org === '') throw invalidToken('the token has no `org`');
  if (!/^[\w-]{1,64}$/.test(org)) throw invalidToken('the token names an organization that does not exist');
  // Postgres stores neither NUL nor half a surrogate pair
  return {
    org,
    exp,
    issuedAt: typeof iat === 'number' ? iat : 0,
    subject: sub.replaceAll(/[\0\p{Cs}]/gu, '\ufffd'),
    scopes: scopesAmong(wordsOf(scope)),
  };
}

/** Separated by spaces (RFC 8693, 4.2), or a list. */
function wordsOf(scope: unknown): unknown[] {
  if (typeof scope === 'string') return scope.split(' ');
  return Array.isArray(scope) ? scope : [];
}

function reasonOf(failure: unknown): string {
  if (failure instanceof jsonwebtoken.TokenExpiredError) return 'the token has expired';
  if (failure instanceof jsonwebtoken.NotBeforeError) return 'the token is not valid yet';
  return 'the token was not issued for this service';
}
