import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import jsonwebtoken from 'jsonwebtoken';
import { describe, expect, it } from 'vitest';
import { readApiConfig } from '#libs/config/api';
import { BadSetting } from '#libs/config/bad-setting';

const connections = { DATABASE_URL: 'postgres://db/assent', REDIS_URL: 'redis://redis' };
const read = (environment: Record<string, string>) => readApiConfig({ ...connections, ...environment }).tokens;
const refusal = (environment: Record<string, string>): string => {
  try {
    read(environment);
  } catch (error) {
    if (error instanceof BadSetting) return error.message;
    throw error;
  }
  throw new Error('it was accepted');
};
const pem = (key: KeyObject) =>
  key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }).toString();

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const otherRsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pairs = { RS256: rsa, ES256: ec } as const;

describe('a shared secret', () => {
  it('has at least 32 bytes, not characters', () => {
    expect(refusal({ JWT_SECRET: 'x'.repeat(31) })).toBe('JWT_SECRET must be at least 32 bytes');
    expect(read({ JWT_SECRET: 'stuvwxyz'.repeat(4) }).keys).toHaveLength(1);
    expect(read({ JWT_SECRET: 'ßäöüéèêë'.repeat(2) }).keys).toHaveLength(1);
    expect(refusal({ JWT_SECRET: 'ß'.repeat(15) })).toBe('JWT_SECRET must be at least 32 bytes');
  });

  it('is in production none that stands in examples', () => {
    const own = randomBytes(32).toString('hex');
    const long = '0123456789'.repeat(3);
    for (const placeholder of [
      'x'.repeat(64),
      'ab'.repeat(32),
      `change-me-${long}`,
      `CHANGEME${long}`,
      `replace_this_${long}`,
      `replace-me-${long}`,
      `a-place-holder-${long}`,
      'your_jwt_secret_of_32_bytes_or_more',
    ]) {
      for (const [name, secrets] of [
        ['JWT_SECRET', { JWT_SECRET: placeholder }],
        ['JWT_SECRET_PREVIOUS', { JWT_SECRET: own, JWT_SECRET_PREVIOUS: placeholder }],
      ] as const) {
        expect(read(secrets).keys).toHaveLength(Object.keys(secrets).length);
        expect(refusal({ ...secrets, NODE_ENV: 'production' })).toBe(
          `${name} must be a secret of its own, made with: openssl rand -hex 32`,
        );
      }
    }
    expect(read({ JWT_SECRET: own, NODE_ENV: 'production' }).keys).toHaveLength(1);
  });

  it('may have a predecessor, under the same rule, which comes second', () => {
    const keys = read({ JWT_SECRET: 'abcdefgh'.repeat(4), JWT_SECRET_PREVIOUS: 'ijklmnop'.repeat(4) }).keys;
    expect(keys.map((key) => key.export().toString())).toEqual(['abcdefgh'.repeat(4), 'ijklmnop'.repeat(4)]);
    expect(refusal({ JWT_SECRET: 'abcdefgh'.repeat(4), JWT_SECRET_PREVIOUS: 'b'.repeat(31) })).toBe(
      'JWT_SECRET_PREVIOUS must be at least 32 bytes',
    );
  });

  it('is not replaced by a predecessor or by a public key', () => {
    expect(refusal({ JWT_SECRET_PREVIOUS: 'ijklmnop'.repeat(4) })).toMatch(
      /^JWT_SECRET must be set for JWT_ALGORITHM HS256/,
    );
    expect(refusal({ JWT_PUBLIC_KEY: pem(rsa.publicKey) })).toMatch(/^JWT_SECRET must be set/);
  });

  it('is no key for another algorithm', () => {
    const keys = read({
      JWT_ALGORITHM: 'RS256',
      JWT_PUBLIC_KEY: pem(rsa.publicKey),
      JWT_SECRET: 'abcdefgh'.repeat(4),
    }).keys;
    expect(keys.map((key) => key.type)).toEqual(['public']);
  });
});

describe.each(['RS256', 'ES256'] as const)('a public key for %s', (algorithm) => {
  const { publicKey, privateKey } = pairs[algorithm];
  const wrong = algorithm === 'RS256' ? ec : rsa;
  const kind = algorithm === 'RS256' ? 'RSA' : 'P-256';

  it('verifies what its private key signed', () => {
    const [key] = read({ JWT_ALGORITHM: algorithm, JWT_PUBLIC_KEY: pem(publicKey) }).keys;
    if (!key) throw new Error('no key');
    const token = jsonwebtoken.sign({ sub: 'x' }, pem(privateKey), { algorithm });
    expect(jsonwebtoken.verify(token, key, { algorithms: [algorithm] })).toMatchObject({ sub: 'x' });
  });

  it('may have its line breaks written as \\n, as environment files do', () => {
    const [key] = read({ JWT_ALGORITHM: algorithm, JWT_PUBLIC_KEY: pem(publicKey).replaceAll('\n', '\\n') }).keys;
    expect(key?.equals(publicKey)).toBe(true);
  });

  it('may have a predecessor, which comes second', () => {
    const previous = algorithm === 'RS256' ? otherRsa.publicKey : publicKey;
    const keys = read({
      JWT_ALGORITHM: algorithm,
      JWT_PUBLIC_KEY: pem(publicKey),
      JWT_PUBLIC_KEY_PREVIOUS: pem(previous),
    }).keys;
    expect(keys).toHaveLength(2);
    expect(keys[1]?.equals(previous)).toBe(true);
  });

  it('of another kind, or no key at all, is refused in a line that names the variable and not the key', () => {
    const line = (name: string) => `${name} must be a public ${kind} key in PEM for JWT_ALGORITHM ${algorithm}`;
    for (const bad of [
      pem(wrong.publicKey),
      'not-a-key',
      '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----',
    ]) {
      expect(refusal({ JWT_ALGORITHM: algorithm, JWT_PUBLIC_KEY: bad })).toBe(line('JWT_PUBLIC_KEY'));
      expect(refusal({ JWT_ALGORITHM: algorithm, JWT_PUBLIC_KEY: pem(publicKey), JWT_PUBLIC_KEY_PREVIOUS: bad })).toBe(
        line('JWT_PUBLIC_KEY_PREVIOUS'),
      );
    }
    expect(refusal({ JWT_ALGORITHM: algorithm })).toMatch(/^JWT_PUBLIC_KEY must be set/);
  });
});

it('a key with which no token can be verified is refused at the start: ES256 needs the curve P-256', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  expect(() => jsonwebtoken.sign({}, pem(privateKey), { algorithm: 'ES256' })).toThrow(/curve/);
  expect(refusal({ JWT_ALGORITHM: 'ES256', JWT_PUBLIC_KEY: pem(publicKey) })).toMatch(/^JWT_PUBLIC_KEY must be/);
});

it('an RSA key has at least 2048 bits', () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  expect(refusal({ JWT_ALGORITHM: 'RS256', JWT_PUBLIC_KEY: pem(publicKey) })).toBe(
    'JWT_PUBLIC_KEY must be an RSA key of at least 2048 bits',
  );
});

describe('the names of keys', () => {
  const secrets = { JWT_SECRET: 'abcdefgh'.repeat(4), JWT_SECRET_PREVIOUS: 'ijklmnop'.repeat(4) };
  const named = (environment: Record<string, string>) =>
    [...read({ ...secrets, ...environment }).keysById].map(([id, key]) => [id, key.export().toString()]);

  it('are a list of what a token may name; without any, nothing is', () => {
    expect(named({})).toEqual([]);
    expect(named({ JWT_KEY_ID: 'new' })).toEqual([['new', secrets.JWT_SECRET]]);
    expect(named({ JWT_KEY_ID: 'new', JWT_KEY_ID_PREVIOUS: 'old' })).toEqual([
      ['new', secrets.JWT_SECRET],
      ['old', secrets.JWT_SECRET_PREVIOUS],
    ]);
  });

  it('differ, and are printable', () => {
    expect(refusal({ ...secrets, JWT_KEY_ID: 'one', JWT_KEY_ID_PREVIOUS: 'one' })).toBe(
      'JWT_KEY_ID_PREVIOUS must be different from JWT_KEY_ID',
    );
    expect(refusal({ ...secrets, JWT_KEY_ID: 'a b' })).toMatch(/^JWT_KEY_ID must be at most 128 printable characters/);
  });
});

describe('the keys of a provider', () => {
  const provider = {
    JWT_ALGORITHM: 'ES256',
    JWT_JWKS_URL: 'https://id.example.com/keys',
    JWT_ISSUER: 'https://id.example.com/',
    JWT_AUDIENCE: 'assent',
  };

  it('need no key of ours, and have the usual claims', () => {
    expect(read(provider)).toMatchObject({
      keys: [],
      jwksUrl: provider.JWT_JWKS_URL,
      orgClaim: 'org',
      scopeClaim: 'scope',
    });
  });

  it.each<[Record<string, string>, string]>([
    [
      { JWT_ALGORITHM: 'HS256', JWT_SECRET: 'abcdefgh'.repeat(4) },
      'JWT_ALGORITHM must be RS256 or ES256 with JWT_JWKS_URL',
    ],
    [{ JWT_ISSUER: '' }, 'JWT_ISSUER must be set with JWT_JWKS_URL'],
    [{ JWT_AUDIENCE: '' }, 'JWT_AUDIENCE must be set with JWT_JWKS_URL'],
    [{ JWT_JWKS_URL: 'http://id.example.com/keys' }, 'JWT_JWKS_URL must be an address that begins with https://'],
    [
      { JWT_ORG_CLAIM: 'sub' },
      'JWT_ORG_CLAIM must be a claim\'s name: at most 256 printable characters without spaces, not "sub"',
    ],
  ])('are refused with %o', (change, told) => {
    expect(refusal({ ...provider, ...change })).toBe(told);
  });

  it('may come over http on this machine', () => {
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      expect(read({ ...provider, JWT_JWKS_URL: `http://${host}:8080/keys` }).jwksUrl).toContain(host);
    }
  });
});
