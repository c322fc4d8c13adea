import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readApiConfig } from '../../apps/settings/api.ts';
import { refusal } from '../support/refusal.ts';

type Environment = Record<string, string>;
const connections = { DATABASE_URL: 'postgres://db/assent', REDIS_URL: 'redis://redis' };
const read = (environment: Environment) => readApiConfig({ ...connections, ...environment }).tokens;
const secretsOf = (environment: Environment) => read(environment).keys.map((key) => key.export().toString());
const refused = (environment: Environment) => refusal(() => read(environment));
const [current, previous] = ['abcdefgh'.repeat(4), 'ijklmnop'.repeat(4)];
const secrets = { JWT_SECRET: current, JWT_SECRET_PREVIOUS: previous };

const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();
const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).publicKey;
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).publicKey;
const [rsaKey, otherRsaKey, ecKey, otherEcKey] = [rsa(2048), rsa(2048), ec('P-256'), ec('P-256')];

describe('a shared secret', () => {
  it('has at least 32 bytes, not characters', () => {
    for (const short of ['x'.repeat(31), 'ß'.repeat(15)]) {
      expect(refused({ JWT_SECRET: short })).toBe('JWT_SECRET must be at least 32 bytes');
      expect(refused({ ...secrets, JWT_SECRET_PREVIOUS: short })).toBe('JWT_SECRET_PREVIOUS must be at least 32 bytes');
    }
    expect(secretsOf({ JWT_SECRET: 'ßäöüéèêë'.repeat(2) })).toHaveLength(1);
  });

  const long = '0123456789'.repeat(3);
  it.each([
    'ab'.repeat(32),
    `change-me-${long}`,
    `replace_this_${long}`,
    `a-place-holder-${long}`,
    'your_jwt_secret_of_32_bytes_or_more',
  ])('is in production none that stands in examples: %s', (placeholder) => {
    const own = randomBytes(32).toString('hex');
    for (const [name, environment] of [
      ['JWT_SECRET', { JWT_SECRET: placeholder }],
      ['JWT_SECRET_PREVIOUS', { JWT_SECRET: own, JWT_SECRET_PREVIOUS: placeholder }],
    ] as const) {
      expect(secretsOf(environment)).toContain(placeholder);
      expect(refused({ ...environment, NODE_ENV: 'production' })).toBe(
        `${name} must be a secret of its own, made with: openssl rand -hex 32`,
      );
      // and whatever is meant by another name
      expect(refused({ ...environment, NODE_ENV: 'prod' })).toContain(name);
    }
    expect(secretsOf({ JWT_SECRET: own, NODE_ENV: 'production' })).toEqual([own]);
  });

  it('may have a predecessor, which comes second and replaces it no more than a public key does', () => {
    expect(secretsOf(secrets)).toEqual([current, previous]);
    for (const other of [{ JWT_SECRET_PREVIOUS: previous }, { JWT_PUBLIC_KEY: pem(rsaKey) }])
      expect(refused(other)).toBe('JWT_SECRET must be set for JWT_ALGORITHM HS256');
  });

  it('is no key for another algorithm', () => {
    const { keys } = read({ JWT_ALGORITHM: 'RS256', JWT_PUBLIC_KEY: pem(rsaKey), JWT_SECRET: current });
    expect(keys.map((key) => key.type)).toEqual(['public']);
  });
});

describe.each([
  ['RS256', 'RSA', [rsaKey, otherRsaKey], [ecKey]],
  // ES256 needs that curve
  ['ES256', 'P-256', [ecKey, otherEcKey], [rsaKey, ec('P-384')]],
] as const)('a public key for %s', (algorithm, kind, [key, other], wrong) => {
  const given = { JWT_ALGORITHM: algorithm, JWT_PUBLIC_KEY: pem(key) };

  it('may have its line breaks written as \\n, as environment files do, and a predecessor', () => {
    const { keys } = read({ ...given, JWT_PUBLIC_KEY_PREVIOUS: pem(other).replaceAll('\n', '\\n') });
    expect(keys.map(pem)).toEqual([key, other].map(pem));
  });

  it('of another kind, or no key at all, is refused in a line that names the variable and not the key', () => {
    const broken = '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----';
    for (const bad of [...wrong.map(pem), 'not-a-key', broken]) {
      for (const name of ['JWT_PUBLIC_KEY', 'JWT_PUBLIC_KEY_PREVIOUS'])
        expect(refused({ ...given, [name]: bad })).toBe(
          `${name} must be a public ${kind} key in PEM for JWT_ALGORITHM ${algorithm}`,
        );
    }
    expect(refused({ JWT_ALGORITHM: algorithm })).toMatch(/^JWT_PUBLIC_KEY must be set/);
  });
});

it('an RSA key has at least 2048 bits', () => {
  expect(refused({ JWT_ALGORITHM: 'RS256', JWT_PUBLIC_KEY: pem(rsa(1024)) })).toBe(
    'JWT_PUBLIC_KEY must be an RSA key of at least 2048 bits',
  );
});

it('the names of keys are a list of what a token may name, differ, and are printable', () => {
  const named = (environment: Environment) =>
    [...read({ ...secrets, ...environment }).keysById].map(([id, key]) => [id, key.export().toString()]);
  expect(named({})).toEqual([]);
  expect(named({ JWT_KEY_ID: 'new' })).toEqual([['new', current]]);
  expect(named({ JWT_KEY_ID: 'new', JWT_KEY_ID_PREVIOUS: 'old' })).toEqual([
    ['new', current],
    ['old', previous],
  ]);
  expect(refused({ ...secrets, JWT_KEY_ID: 'one', JWT_KEY_ID_PREVIOUS: 'one' })).toBe(
    'JWT_KEY_ID_PREVIOUS must be different from JWT_KEY_ID',
  );
  for (const name of ['JWT_KEY_ID', 'JWT_KEY_ID_PREVIOUS'])
    expect(refused({ ...secrets, [name]: 'assent-people' })).toMatch(`${name} must be another than assent-people`);
  expect(refused({ ...secrets, JWT_KEY_ID: 'a b' })).toMatch(/^JWT_KEY_ID must be at most 128 printable characters/);
});

describe('the keys of a provider', () => {
  const provider = {
    JWT_ALGORITHM: 'ES256',
    JWT_JWKS_URL: 'https://id.example.com/keys',
    JWT_ISSUER: 'https://id.example.com/',
    JWT_AUDIENCE: 'assent',
  };

  it('need no key of ours, have the usual claims, and may come over http on this machine', () => {
    const jwksUrl = provider.JWT_JWKS_URL;
    expect(read(provider)).toMatchObject({ keys: [], jwksUrl, orgClaim: 'org', scopeClaim: 'scope' });
    for (const host of ['localhost', '127.0.0.1', '[::1]'])
      expect(read({ ...provider, JWT_JWKS_URL: `http://${host}:8080/keys` }).jwksUrl).toContain(host);
  });

  it.each<[Environment, string]>([
    [{ JWT_ALGORITHM: 'HS256', JWT_SECRET: current }, 'JWT_ALGORITHM must be RS256 or ES256 with JWT_JWKS_URL'],
    [{ JWT_ISSUER: '' }, 'JWT_ISSUER must be set with JWT_JWKS_URL'],
    [{ JWT_AUDIENCE: '' }, 'JWT_AUDIENCE must be set with JWT_JWKS_URL'],
    [{ JWT_JWKS_URL: 'http://id.example.com/keys' }, 'JWT_JWKS_URL must be an address that begins with https://'],
    [{ JWT_ORG_CLAIM: 'sub' }, "JWT_ORG_CLAIM must be a claim's name: at most 256 printable characters"],
  ])('are refused with %o', (change, told) => {
    expect(refused({ ...provider, ...change })).toContain(told);
  });
});
