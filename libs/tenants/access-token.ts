/** Access tokens: verified, and remembered by their hash while they are valid. */
import { hash, type KeyObject } from 'node:crypto';
import jsonwebtoken from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import { Problem } from '#libs/base/terms/problem';
import { type Scope, scopesAmong } from '#libs/base/terms/terms';
import { isTokenId } from './contract.ts';
import { personKeyId, personSubject } from './person-tokens.ts';
import { createProviderKeys } from './provider-keys.ts';

/** seconds of clock skew that are tolerated */
const clockTolerance = 30;
/** tokens, of some 300 bytes each */
const maxKnown = 10_000;

/** What verifies a token, and what it must state. */
export interface TokenConfig {
  algorithm: 'HS256' | 'RS256' | 'ES256';
  keys: KeyObject[];
  /** the only ids that a token's `kid` may name; empty: `kid` is ignored */
  keysById: ReadonlyMap<string, KeyObject>;
  issuer: string | undefined;
  audience: string | undefined;
  /** keys for people's tokens, whose `kid` is `personKeyId`; the first one signs; empty if there are no accounts */
  personKeys: KeyObject[];
  /** where a provider has its keys; they are accepted beside `keys` */
  jwksUrl: string | undefined;
  orgClaim: string;
  scopeClaim: string;
  /** of a token without that claim */
  defaultScopes: Scope[];
  /** seconds; undefined: any */
  maxLifetime: number | undefined;
}

export interface AccessToken {
  organizationId: string;
  /** its `sub`, the actor of administrative acts */
  subject: string;
  /** set if we issued the token to a person: their scopes then come from the organization, not from the token */
  personId: string | undefined;
  scopes: Scope[];
  /** Unix seconds */
  exp: number;
  /** Unix seconds; 0 where the token does not say */
  issuedAt: number;
  /** by which it can be revoked alone; undefined where the token does not say */
  jti: string | undefined;
  /** key for rate limits: the digest of header and payload, since a signature can vary; for a person, the subject */
  countedAs: string;
  /** the generation of the provider's keys that it was verified with; undefined: with one of our own */
  verifiedIn: number | undefined;
}

export interface AccessTokens {
  /** Throws an `invalid_token` Problem, or a 503 while the provider's keys are needed and cannot be fetched. */
  verify(token: string): Promise<AccessToken>;
  /** Call this only once the token's organization was found. */
  remember(token: string, access: AccessToken): void;
  /** A remembered token that has not expired, and whose provider still has the keys that verified it. */
  known(token: string): AccessToken | undefined;
  forget(token: string): void;
}

const digest = (text: string): string => hash('sha256', text, 'base64');

export function createAccessTokens(config: TokenConfig): AccessTokens {
  const found = new LRUCache<string, AccessToken>({ max: maxKnown });
  const provider =
    config.jwksUrl === undefined ? undefined : createProviderKeys({ ...config, jwksUrl: config.jwksUrl });
  const ofPeople: TokenConfig = {
    ...config,
    algorithm: 'HS256',
    issuer: undefined,
    audience: undefined,
    orgClaim: 'org',
  };
  const keysOf = async (header: Header | undefined): Promise<VerifyingKey[]> => {
    if (!header) return [];
    if (header.kid === personKeyId) return config.personKeys.map((key) => ({ key, generation: undefined }));
    const own = keysNamedBy(header, config).map((key) => ({ key, generation: undefined }));
    // a token of another algorithm cannot be the provider's
    if (!provider || header.alg !== config.algorithm) return own;
    const generation = provider.generation();
    const key = await provider.find(header.kid);
    return key ? [...own, { key, generation }] : own;
  };
  const holds = ({ exp, verifiedIn }: AccessToken): boolean =>
    Date.now() / 1000 < exp + clockTolerance &&
    (verifiedIn === undefined || (provider?.isCurrent(verifiedIn) ?? false));
  return {
    known: (token) => {
      const access = found.get(digest(token));
      return access && holds(access) ? access : undefined;
    },
    verify: async (token) => {
      const header = headerOf(token);
      const isOfPerson = header?.kid === personKeyId;
      const { org, ...claims } = claimsOf(token, await keysOf(header), isOfPerson ? ofPeople : config);
      if (claims.subject.startsWith(personSubject) !== isOfPerson)
        throw invalidToken('the `sub` of the token is reserved for tokens of this service');
      return {
        organizationId: org,
        ...claims,
        personId: isOfPerson ? claims.subject.slice(personSubject.length) : undefined,
        // a person's tokens count together, so that a new one does not reset the limit
        countedAs: isOfPerson ? claims.subject : digest(token.slice(0, token.lastIndexOf('.'))),
      };
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

interface Claims extends Pick<AccessToken, 'subject' | 'scopes' | 'exp' | 'issuedAt' | 'jti'> {
  org: string;
}

interface VerifyingKey {
  key: KeyObject;
  /** where it is the provider's */
  generation: number | undefined;
}

/** Only the configured algorithm and keys count. The token's header may at most name one of these keys. */
function claimsOf(token: string, keys: VerifyingKey[], config: TokenConfig): Claims & Pick<AccessToken, 'verifiedIn'> {
  const { algorithm, issuer, audience } = config;
  const failures: unknown[] = [];
  for (const { key, generation } of keys) {
    try {
      const claims = jsonwebtoken.verify(token, key, {
        algorithms: [algorithm],
        clockTolerance,
        ...(issuer && { issuer }),
        ...(audience && { audience }),
      });
      return { ...requireClaims(claims, config), verifiedIn: generation };
    } catch (error) {
      if (error instanceof Problem) throw error;
      failures.push(error);
    }
  }
  // prefer an error of expiry or `nbf`: it means that this key's signature was valid
  const failure = failures.find((error) => !isNotOurs(error)) ?? failures[0];
  throw invalidToken(reasonOf(failure), failure);
}

/** If key ids are configured, a `kid` must be one of them. A token without a `kid` is tried with every key. */
function keysNamedBy({ kid }: Header, { keys, keysById }: TokenConfig): KeyObject[] {
  if (kid === undefined || keysById.size === 0) return keys;
  const named = keysById.get(kid);
  return named ? [named] : [];
}

interface Header {
  alg?: unknown;
  kid?: string;
}

/**
 * Undefined if it can only be refused: `kid` must be a string (RFC 7515, 4.1.4), and we support no `crit` extensions
 * (4.1.11).
 */
function headerOf(token: string): Header | undefined {
  try {
    const header: unknown = JSON.parse(Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString());
    if (typeof header !== 'object' || header === null || 'crit' in header) return undefined;
    return 'kid' in header && typeof header.kid !== 'string' ? undefined : header;
  } catch {
    return undefined;
  }
}

const isNotOurs = (error: unknown): boolean =>
  error instanceof jsonwebtoken.JsonWebTokenError &&
  !(error instanceof jsonwebtoken.TokenExpiredError || error instanceof jsonwebtoken.NotBeforeError);

function requireClaims(claims: string | jsonwebtoken.JwtPayload, config: TokenConfig): Claims {
  if (typeof claims === 'string') throw invalidToken('the token has no claims');
  const { sub, exp, iat, jti, [config.orgClaim]: organization, [config.scopeClaim]: scope } = claims;
  requireLifetime({ exp, iat }, config);
  if (typeof sub !== 'string' || sub === '') throw invalidToken('the token has no `sub`');
  const org = organizationOf(organization, config.orgClaim);
  if (!/^[\w-]{1,64}$/.test(org)) throw invalidToken('the token names an organization that does not exist');
  // without a valid `jti` it could not be revoked alone
  if (jti !== undefined && !isTokenId(jti)) throw invalidToken("the token's `jti` must have 1 to 256 characters");
  // Postgres stores neither NUL nor half a surrogate pair
  return {
    org,
    exp: Number(exp),
    issuedAt: Number(iat ?? 0),
    jti,
    subject: sub.replaceAll(/[\0\p{Cs}]/gu, '\ufffd'),
    scopes: scope === undefined ? config.defaultScopes : scopesAmong(wordsOf(scope)),
  };
}

/**
 * The claim is a string, a list of one, or a map with one key: Keycloak sends a map of all the person's organizations, by
 * alias.
 */
function organizationOf(claim: unknown, name: string): string {
  const isMap = typeof claim === 'object' && claim !== null && !Array.isArray(claim);
  const [org, ...others]: unknown[] = isMap ? Object.keys(claim) : [claim].flat();
  if (others.length > 0) {
    const count = others.length + 1;
    throw invalidToken(`the token's \`${name}\` names ${count} organizations: it has to be issued for one of them`);
  }
  if (typeof org !== 'string' || org === '') throw invalidToken(`the token has no \`${name}\``);
  return org;
}

/** 9999-12-31T23:59:59Z, in Unix seconds */
const lastSecond = 253_402_300_799;

/**
 * A token dated in the future would survive the revocation of all tokens. One that never expires would be valid for as long
 * as its key is.
 */
function requireLifetime({ exp, iat }: { exp?: unknown; iat?: unknown }, { maxLifetime }: TokenConfig): void {
  if (typeof exp !== 'number' || !Number.isFinite(exp)) throw invalidToken('the token has no `exp`');
  if (exp > lastSecond) throw invalidToken("the token's `exp` is beyond the year 9999");
  if (iat !== undefined && typeof iat !== 'number') throw invalidToken("the token's `iat` is not a number");
  if (iat !== undefined && iat > Date.now() / 1000 + clockTolerance)
    throw invalidToken("the token's `iat` is in the future");
  if (maxLifetime === undefined) return;
  if (iat === undefined) throw invalidToken('the token has no `iat`, so its lifetime is unknown');
  if (exp - iat > maxLifetime) throw invalidToken(`the token is valid for longer than ${maxLifetime / 3_600} h`);
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
