/** The keys that sign and verify access tokens, and the claims that a token must have. */
import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import { isSafeAddress, refuse } from '#libs/base/config/read';
import type { Scope } from '#libs/base/terms/terms';
import { personKeyId } from '#libs/tenants/person-tokens';
import type { Values } from './settings.ts';

export const secretKey = (name: string, value: string): KeyObject =>
  Buffer.byteLength(value) < 32 ? refuse(name, 'at least 32 bytes') : createSecretKey(value, 'utf8');

/** Copied from an example, or typed to reach the length: anybody could sign with it. */
const isPlaceholder = (value: string): boolean =>
  /change.?me|place.?holder|your.?(jwt.?)?secret|replace.?(me|this)/i.test(value) || new Set(value).size < 8;

function tokenSecret(name: string, value: string, isProduction: boolean): KeyObject {
  const key = secretKey(name, value);
  return isProduction && isPlaceholder(value)
    ? refuse(name, 'a secret of its own, made with: openssl rand -hex 32')
    : key;
}

function publicKey(name: string, value: string, algorithm: string): KeyObject {
  const isRsa = algorithm === 'RS256';
  const refuseKind = () =>
    refuse(name, `a public ${isRsa ? 'RSA' : 'P-256'} key in PEM for JWT_ALGORITHM ${algorithm}`);
  const key = parsePem(value) ?? refuseKind();
  if (key.asymmetricKeyType !== (isRsa ? 'rsa' : 'ec')) refuseKind();
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (isRsa && modulusLength < 2048) refuse(name, 'an RSA key of at least 2048 bits');
  if (!isRsa && namedCurve !== 'prime256v1') refuseKind();
  return key;
}

/** In environment variables, the lines of a PEM are often separated by a literal `\n`. */
function parsePem(value: string): KeyObject | undefined {
  try {
    return createPublicKey(value.replaceAll('\\n', '\n'));
  } catch {
    return undefined;
  }
}

/** A provider signs the tokens of all its customers with the same keys, so issuer and audience have to be checked. */
function readJwksUrl(values: Values): string | undefined {
  const { JWT_JWKS_URL: url, JWT_ALGORITHM: algorithm } = values;
  if (url === undefined) return undefined;
  if (!isSafeAddress(url)) refuse('JWT_JWKS_URL', 'an address that begins with https://');
  if (algorithm === 'HS256') refuse('JWT_ALGORITHM', 'RS256 or ES256 with JWT_JWKS_URL');
  for (const name of ['JWT_ISSUER', 'JWT_AUDIENCE'] as const) {
    if (!values[name]) refuse(name, 'set with JWT_JWKS_URL');
  }
  return url;
}

/** Seconds for which a token may be valid. */
export const readMaxLifetime = ({ JWT_MAX_LIFETIME: hours }: Pick<Values, 'JWT_MAX_LIFETIME'>): number | undefined =>
  hours === undefined ? undefined : hours * 3_600;

export function readTokens(values: Values) {
  const algorithm = values.JWT_ALGORITHM;
  const names =
    algorithm === 'HS256'
      ? (['JWT_SECRET', 'JWT_SECRET_PREVIOUS'] as const)
      : (['JWT_PUBLIC_KEY', 'JWT_PUBLIC_KEY_PREVIOUS'] as const);
  const keysById = new Map<string, KeyObject>();
  const isProduction = ![undefined, 'development', 'test'].includes(values.NODE_ENV);
  const keys = names.flatMap((name) => {
    const value = values[name];
    if (!value) return [];
    const key = algorithm === 'HS256' ? tokenSecret(name, value, isProduction) : publicKey(name, value, algorithm);
    const id = name.endsWith('_PREVIOUS') ? values.JWT_KEY_ID_PREVIOUS : values.JWT_KEY_ID;
    if (id) keysById.set(id, key);
    return [key];
  });
  for (const name of ['JWT_KEY_ID', 'JWT_KEY_ID_PREVIOUS'] as const) {
    if (values[name] === personKeyId) refuse(name, `another than ${personKeyId}, which the API itself uses`);
  }
  const jwksUrl = readJwksUrl(values);
  if (!values[names[0]] && !jwksUrl) refuse(names[0], `set for JWT_ALGORITHM ${algorithm}`);
  if (values.JWT_KEY_ID && values.JWT_KEY_ID === values.JWT_KEY_ID_PREVIOUS)
    refuse('JWT_KEY_ID_PREVIOUS', 'different from JWT_KEY_ID');
  return {
    algorithm,
    keys,
    /** the only allowed values of a token's `kid`; empty: `kid` is ignored */
    keysById,
    keyId: values.JWT_KEY_ID,
    issuer: values.JWT_ISSUER,
    audience: values.JWT_AUDIENCE,
    /** a provider's keys, which are accepted beside `keys` */
    jwksUrl,
    orgClaim: values.JWT_ORG_CLAIM,
    scopeClaim: values.JWT_SCOPE_CLAIM,
    /** for a token without scopes; a provider also issues tokens that are not meant for us */
    defaultScopes: values.JWT_DEFAULT_SCOPE ?? (jwksUrl === undefined ? (['read'] satisfies Scope[]) : []),
    /** seconds */
    maxLifetime: readMaxLifetime(values),
  };
}
