import { createHmac, generateKeyPairSync } from 'node:crypto';
import jsonwebtoken from 'jsonwebtoken';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Context } from '#libs/base/http/context';
import { Problem } from '#libs/base/terms/problem';
import { createAccessTokens } from '#libs/tenants/access-token';
import { bearer } from '#libs/tenants/bearer';
import { readApiConfig } from '../../apps/settings/api.ts';

const secret = 'a secret that only these tests use';
const previousSecret = 'the secret that these tests have rotated away';
const { tokens: config } = readApiConfig({
  DATABASE_URL: 'postgres://db/assent',
  REDIS_URL: 'redis://redis',
  JWT_SECRET: secret,
  JWT_SECRET_PREVIOUS: previousSecret,
});

const now = Date.parse('2026-11-20T12:00:00Z');
const seconds = now / 1000;
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const withSignature = (content: string, key: string) =>
  `${content}.${createHmac('sha256', key).update(content).digest('base64url')}`;
/** jsonwebtoken would put in what is left out here, and refuses to make most of these. */
const signed = (change: object = {}, key = secret, header: object | null = { alg: 'HS256', typ: 'JWT' }) => {
  const claims = { sub: 'tester', org: 'org_a', exp: seconds + 600, ...change };
  return withSignature(`${part(header)}.${part(claims)}`, key);
};
const withHeader = (header: object | null, key = secret) => signed({}, key, header);
/** A payload that no JSON.stringify would write. */
const signedRaw = (payload: string) =>
  withSignature(`${part({ alg: 'HS256' })}.${Buffer.from(payload).toString('base64url')}`, secret);
const contentOf = (token: string) => token.slice(0, token.lastIndexOf('.'));

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now }));
afterEach(() => void vi.useRealTimers());

describe('an access token', () => {
  const organization = { organizationId: 'org_a', tokensSince: null, revokedTokens: new Set() };
  const find = async (id: string) => {
    if (id.includes('\0')) throw new Error('Postgres has no NUL in a text');
    return id === 'org_a' ? organization : null;
  };
  const accepts = bearer({
    config: { tokens: config },
    tenants: { organization: find },
    failedTokens: { check: () => {}, countOrThrow: () => {} },
  } as unknown as Parameters<typeof bearer>[0]);
  const ask = async (authorization: string) => {
    const ctx = { get: () => authorization, state: {} } as unknown as Context;
    await accepts(ctx, async () => {});
    return ctx.state.access;
  };

  it.each([
    ['with the current secret', `Bearer ${signed()}`],
    ['with the previous secret, while keys rotate', `Bearer ${signed({}, previousSecret)}`],
    ['whose org is a list of one', `Bearer ${signed({ org: ['org_a'] })}`],
    ['whose org is a map of one', `Bearer ${signed({ org: { org_a: { id: '4f1b' } } })}`],
    ['with the scheme in lower case', `bearer ${signed()}`],
    ['that expired within the tolerance of clocks', `Bearer ${signed({ exp: seconds - 29 })}`],
  ])('%s is accepted', async (_, authorization) => {
    expect(await ask(authorization)).toMatchObject({ organizationId: 'org_a', subject: 'tester' });
  });

  const noTokenId = "the token's `jti` must have 1 to 256 characters";
  const hs512 = jsonwebtoken.sign({ sub: 'tester', org: 'org_a', exp: seconds + 60 }, secret, { algorithm: 'HS512' });
  it.each([
    ['that is garbage', 'Bearer garbage'],
    ['that is empty', 'Bearer'],
    ['of another scheme', `Basic ${signed()}`],
    ['without a scheme', signed()],
    ['with something behind it', `Bearer ${signed()} x`],
    ['of 12,000 characters', `Bearer ${signed({ x: 'x'.repeat(8_900) })}`],
    ['of alg none', `Bearer ${contentOf(withHeader({ alg: 'none', typ: 'JWT' }))}.`],
    ['of another algorithm with the same secret', `Bearer ${hs512}`],
    ['with another secret', `Bearer ${signed({}, `${secret}.`)}`],
    ['that is not valid yet', `Bearer ${signed({ nbf: seconds + 60 })}`],
    ['without exp', `Bearer ${signed({ exp: undefined })}`, 'the token has no `exp`'],
    ['whose exp is text', `Bearer ${signed({ exp: '9999999999' })}`],
    ['that never expires', `Bearer ${signedRaw('{"sub":"x","org":"org_a","exp":1e999}')}`],
    [
      'that is valid beyond 9999',
      `Bearer ${signed({ exp: 253_402_300_800 })}`,
      "the token's `exp` is beyond the year 9999",
    ],
    ['that was issued in the future', `Bearer ${signed({ iat: seconds + 31 })}`, "the token's `iat` is in the future"],
    ['whose iat is text', `Bearer ${signed({ iat: '0' })}`],
    ['that expired, though keys were rotated', `Bearer ${signed({ exp: seconds - 31 })}`, 'the token has expired'],
    ['without sub', `Bearer ${signed({ sub: undefined })}`, 'the token has no `sub`'],
    ['with an empty sub', `Bearer ${signed({ sub: '' })}`, 'the token has no `sub`'],
    ['without org', `Bearer ${signed({ org: undefined })}`, 'the token has no `org`'],
    ...[[], {}, [''], [['org_a']], [{ org_a: {} }], null, 7].map((org): [string, string, string] => [
      `whose org is ${JSON.stringify(org)}`,
      `Bearer ${signed({ org })}`,
      'the token has no `org`',
    ]),
    ...[['org_a', 'org_b'], { org_a: {}, org_b: {} }].map((org): [string, string, string] => [
      `whose org is ${JSON.stringify(org)}`,
      `Bearer ${signed({ org })}`,
      "the token's `org` names 2 organizations: it has to be issued for one of them",
    ]),
    ['whose org looks like a text', `Bearer ${signed({ org: { length: 1 } })}`],
    ['whose jti is too long to be revoked by it', `Bearer ${signed({ jti: 'x'.repeat(257) })}`, noTokenId],
    ['whose jti no database can hold', `Bearer ${signed({ jti: 'x\0' })}`, noTokenId],
    ['whose jti is no text', `Bearer ${signed({ jti: 1 })}`, noTokenId],
    ['of an unknown organization', `Bearer ${signed({ org: 'org_b' })}`],
    ['of an organization that no database can hold', `Bearer ${signed({ org: 'org\0' })}`],
    ['whose payload is no JSON', `Bearer ${signedRaw('{"sub":')}`],
    ['whose header is null', `Bearer ${withHeader(null)}`],
    ['whose header asks for what nobody knows', `Bearer ${withHeader({ alg: 'HS256', crit: ['x'], x: 1 })}`],
    ['whose kid is no text', `Bearer ${withHeader({ alg: 'HS256', kid: ['a'] })}`],
    ['with a key of its own', `Bearer ${withHeader({ alg: 'HS256', jwk: { kty: 'oct', k: part('own') } }, '"own"')}`],
  ])('%s is an invalid_token', async (_, authorization, detail: string = expect.stringMatching(/./)) => {
    const refusal = await ask(authorization).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Problem);
    const headers = { 'WWW-Authenticate': 'Bearer realm="assent", error="invalid_token"' };
    expect(refusal).toMatchObject({ code: 'invalid_token', message: detail, headers });
  });

  it.each<[string, unknown, string[]]>([
    ['words', 'read manage', ['read', 'manage']],
    ['words of others beside ours', 'openid privacy', ['privacy']],
    ['a list', ['import', 'read', 1], ['read', 'import']],
    ['no claim', undefined, ['read']],
    ['only words of others', 'openid profile', []],
    ['null', null, []],
    ['something else', { read: true }, []],
  ])('has the scopes that its claim names: %s', async (_, scope, scopes) => {
    expect(await ask(`Bearer ${signed({ scope })}`)).toMatchObject({ scopes });
  });

  it.each<[string, object, string]>([
    ['of the longest lifetime', { iat: seconds - 3_000 }, 'accepted'],
    ['of a longer one', { iat: seconds - 3_001 }, 'the token is valid for longer than 1 h'],
    ['of an unknown one', {}, 'the token has no `iat`, so its lifetime is unknown'],
  ])('%s, where that has a bound: %j, %s', async (_, claims, outcome) => {
    const { verify } = createAccessTokens({ ...config, maxLifetime: 3_600 });
    const verified = verify(signed(claims)).then(() => 'accepted');
    expect(await verified.catch(({ message }) => message)).toBe(outcome);
  });
});

describe('tokens that are remembered', () => {
  let tokens: ReturnType<typeof createAccessTokens>;
  beforeEach(() => {
    tokens = createAccessTokens({ ...config, keys: config.keys.slice(0, 1) });
  });
  const remember = async (token: string) => tokens.remember(token, await tokens.verify(token));

  it('are known only as they were, not where they were only verified, and until they are forgotten', async () => {
    const token = signed();
    await tokens.verify(token);
    expect(tokens.known(token)).toBeUndefined();
    await remember(token);
    expect(tokens.known(token)).toMatchObject({ organizationId: 'org_a' });
    for (const other of [`${contentOf(token)}.`, `${token}A`, signed({ jti: 'other' })])
      expect(tokens.known(other)).toBeUndefined();
    tokens.forget(token);
    expect(tokens.known(token)).toBeUndefined();
  });

  it('are known until they expire, with the tolerance of clocks', async () => {
    const token = signed();
    await remember(token);
    vi.advanceTimersByTime(629_000);
    expect(tokens.known(token)).toBeDefined();
    vi.advanceTimersByTime(2_000);
    expect(tokens.known(token)).toBeUndefined();
    await expect(tokens.verify(token)).rejects.toThrow('expired');
  });

  it('are bounded in number: those that came last', async () => {
    const access = await tokens.verify(signed());
    for (let n = 0; n <= 10_000; n += 1) tokens.remember(`token-${n}`, access);
    expect([tokens.known('token-0'), tokens.known('token-10000')]).toEqual([undefined, access]);
  });

  it('count as one, however the unused bits at the end of the signature are spelled', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    tokens = createAccessTokens({ ...config, algorithm: 'ES256', keys: [publicKey] });
    const tokenOf = (jti: string) =>
      jsonwebtoken.sign({ sub: 'tester', org: 'org_a', jti }, privateKey, { algorithm: 'ES256', expiresIn: 60 });
    const token = tokenOf('one');
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const respelled = token.slice(0, -1) + alphabet[alphabet.indexOf(token.slice(-1)) ^ 1];
    const countedAs = async (each: string) => (await tokens.verify(each)).countedAs;
    expect(await countedAs(respelled)).toBe(await countedAs(token));
    expect(await countedAs(tokenOf('other'))).not.toBe(await countedAs(token));
  });
});
