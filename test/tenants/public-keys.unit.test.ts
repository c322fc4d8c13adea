/** Access tokens that are signed with private keys: the public ones are in the settings, or a provider has them. */
import { generateKeyPairSync, type KeyObject, type KeyPairKeyObjectResult } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import jsonwebtoken from 'jsonwebtoken';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type AccessTokens, createAccessTokens } from '#libs/tenants/access-token';
import { readApiConfig } from '../../apps/settings/api.ts';

const pemOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();
const ecPair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const [current, previous, foreign] = [ecPair(), ecPair(), ecPair()];
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const issued = { issuer: 'https://login.example/', audience: 'assent' };

const tokensWith = (environment: Record<string, string>): AccessTokens =>
  createAccessTokens(
    readApiConfig({
      DATABASE_URL: 'postgres://db/assent',
      REDIS_URL: 'redis://redis',
      JWT_ALGORITHM: 'ES256',
      JWT_ISSUER: issued.issuer,
      JWT_AUDIENCE: issued.audience,
      ...environment,
    }).tokens,
  );
const sign = (key: KeyObject, options: jsonwebtoken.SignOptions = {}, claims: object = {}) =>
  jsonwebtoken.sign({ sub: 'tester', org: 'org_a', ...claims }, key, {
    algorithm: 'ES256',
    expiresIn: 60,
    ...issued,
    ...options,
  });
/** "accepted", or the code of the refusal. */
const outcomeOf = (tokens: AccessTokens, token: string): Promise<string> =>
  tokens.verify(token).then(
    () => 'accepted',
    ({ code }) => code,
  );

describe('with public keys in the settings', () => {
  const keys = { JWT_PUBLIC_KEY: pemOf(current.publicKey), JWT_PUBLIC_KEY_PREVIOUS: pemOf(previous.publicKey) };
  const unnamed = tokensWith(keys);
  const named = tokensWith({ ...keys, JWT_KEY_ID: 'new', JWT_KEY_ID_PREVIOUS: 'old' });

  it.each<[string, string, KeyPairKeyObjectResult, jsonwebtoken.SignOptions?]>([
    ['the current key', 'accepted', current],
    ['the previous key', 'accepted', previous],
    ['one audience of several', 'accepted', current, { audience: ['other', 'assent'] }],
    ['a name that means nothing here', 'accepted', current, { keyid: 'whatever' }],
    ['a foreign key', 'invalid_token', foreign],
    ['another issuer', 'invalid_token', current, { issuer: 'https://evil.example' }],
    ['another audience', 'invalid_token', current, { audience: 'other' }],
  ])('a token with %s is %s', async (_, outcome, { privateKey }, options) => {
    expect(await outcomeOf(unnamed, sign(privateKey, options))).toBe(outcome);
  });

  it.each<[string, string, KeyPairKeyObjectResult, jsonwebtoken.SignOptions]>([
    ['the current key by its name', 'accepted', current, { keyid: 'new' }],
    ['the previous key by its name', 'accepted', previous, { keyid: 'old' }],
    ['the previous key without a name', 'accepted', previous, {}],
    ["the current key by the other's name", 'invalid_token', current, { keyid: 'old' }],
    ['the current key by a name that is not listed', 'invalid_token', current, { keyid: 'other' }],
    ['a foreign key by a name that is listed', 'invalid_token', foreign, { keyid: 'new' }],
  ])('where keys have names, a token with %s is %s', async (_, outcome, { privateKey }, options) => {
    expect(await outcomeOf(named, sign(privateKey, options))).toBe(outcome);
  });

  it('only the algorithm that is set counts, and a public key is no secret to sign with', async () => {
    const ofRsa = tokensWith({ JWT_ALGORITHM: 'RS256', JWT_PUBLIC_KEY: pemOf(rsa.publicKey) });
    expect(await outcomeOf(ofRsa, sign(rsa.privateKey, { algorithm: 'RS256' }))).toBe('accepted');
    expect(await outcomeOf(ofRsa, sign(rsa.privateKey, { algorithm: 'RS512' }))).toBe('invalid_token');
    expect(await outcomeOf(ofRsa, sign(current.privateKey))).toBe('invalid_token');
    const options = { algorithm: 'HS256', ...issued, expiresIn: 60 } as const;
    for (const [tokens, key] of [
      [unnamed, current.publicKey],
      [ofRsa, rsa.publicKey],
    ] as const)
      expect(await outcomeOf(tokens, jsonwebtoken.sign({ sub: 'x', org: 'org_a' }, pemOf(key), options))).toBe(
        'invalid_token',
      );
  });
});

describe('with the keys of a provider', () => {
  let asked = 0;
  /** milliseconds of the fake clock, however long a test takes */
  let passed = 0;
  let answer: (response: ServerResponse) => void = () => {};
  let server: Server;
  let url: string;

  beforeAll(async () => {
    server = createServer((_, response) => {
      asked += 1;
      answer(response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
    // a process' first request may take longer than a provider is waited for, on a slow machine
    publish({ current });
    await (await fetch(url)).text();
    return () => server.closeAllConnections();
  });
  afterAll(() => void server.close());
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const now = performance.now();
    const monotonic = vi.spyOn(performance, 'now').mockImplementation(() => now + passed);
    publish({ current });
    return () => {
      vi.useRealTimers();
      monotonic.mockRestore();
    };
  });
  const pass = (milliseconds: number) => {
    passed += milliseconds;
    vi.setSystemTime(Date.now() + milliseconds);
  };

  const answerWith = (given: typeof answer) => {
    answer = given;
  };
  const sendText = (text: string, status = 200) => {
    answerWith((response) => void response.writeHead(status, { 'content-type': 'application/json' }).end(text));
  };
  const publish = (pairs: Record<string, KeyPairKeyObjectResult>) => {
    const keys = Object.entries(pairs).map(([kid, { publicKey }]) => ({ ...publicKey.export({ format: 'jwk' }), kid }));
    sendText(JSON.stringify({ keys }));
  };
  const start = (environment: Record<string, string> = {}) => tokensWith({ JWT_JWKS_URL: url, ...environment });
  const known = (claims: object = {}) => sign(current.privateKey, { keyid: 'current' }, claims);

  it('a provider cannot issue the token of a person here', async () => {
    const tokens = start({ PUBLIC_URL: 'https://consent.example.com', SECRETS_KEY: 'ab'.repeat(32) });
    expect(await outcomeOf(tokens, known())).toBe('accepted');
    for (const sub of ['person:', `person:per_${'0'.repeat(20)}`])
      expect(await outcomeOf(tokens, known({ sub }))).toBe('invalid_token');
    publish({ 'assent-people': current });
    const named = sign(current.privateKey, { keyid: 'assent-people' }, { sub: 'person:per_0' });
    expect(await outcomeOf(tokens, named)).toBe('invalid_token');
  });

  it('they are fetched once, when they are wanted, and again for an unknown one, once a minute', async () => {
    const tokens = start();
    const before = asked;
    const all = await Promise.all(Array.from({ length: 20 }, (_, n) => outcomeOf(tokens, known({ jti: `${n}` }))));
    expect([new Set(all), asked - before]).toEqual([new Set(['accepted']), 1]);
    const rotated = () => sign(previous.privateKey, { keyid: 'previous' });
    publish({ previous, current });
    for (let n = 0; n < 50; n += 1)
      expect(await outcomeOf(tokens, sign(foreign.privateKey, { keyid: `made-up-${n}` }))).toBe('invalid_token');
    expect([await outcomeOf(tokens, rotated()), await outcomeOf(tokens, known())]).toEqual([
      'invalid_token',
      'accepted',
    ]);
    expect(asked - before).toBe(1);
    pass(60_001);
    expect([await outcomeOf(tokens, rotated()), await outcomeOf(tokens, known())]).toEqual(['accepted', 'accepted']);
    expect(asked - before).toBe(2);
  });

  it('a clock that was far ahead when they were fetched neither holds one that was removed nor keeps a new one away', async () => {
    const tokens = start();
    const now = Date.now();
    vi.setSystemTime(now + 400 * 86_400_000);
    expect(await outcomeOf(tokens, known())).toBe('accepted');
    vi.setSystemTime(now);
    publish({ previous });
    pass(3_600_001);
    expect(await outcomeOf(tokens, sign(previous.privateKey, { keyid: 'previous' }))).toBe('accepted');
    expect(await outcomeOf(tokens, known())).toBe('invalid_token');
  });

  it.each<[string, object]>([
    ['accepted', { use: 'sig', alg: 'ES256', key_ops: ['verify'] }],
    ['invalid_token', { use: 'enc' }],
    ['invalid_token', { alg: 'ES384' }],
    ['invalid_token', { key_ops: ['sign'] }],
    ['invalid_token', { crv: 'P-384' }],
  ])('a token is %s with a key that the provider publishes with %j', async (outcome, what) => {
    sendText(JSON.stringify({ keys: [{ ...current.publicKey.export({ format: 'jwk' }), kid: 'current', ...what }] }));
    expect(await outcomeOf(start(), known())).toBe(outcome);
  });

  it.each<[string, () => void]>([
    ['an error', () => sendText('{}', 500)],
    ['a page for people', () => sendText('<!doctype html><title>Sign in</title>')],
    ['no keys', () => sendText('{"error":"none"}')],
    ['more than 256 kB', () => sendText(JSON.stringify({ keys: [], filler: 'x'.repeat(300_000) }))],
    ['nothing for long', () => answerWith(() => {})],
    ['another address', () => answerWith((response) => void response.writeHead(302, { location: '/' }).end())],
  ])('while the provider sends %s it is not asked again at once, and the keys at hand hold', async (_, misbehave) => {
    const [fresh, knowing] = [start(), start()];
    expect(await outcomeOf(knowing, known())).toBe('accepted');
    const timeout = AbortSignal.timeout;
    const sooner = vi.spyOn(AbortSignal, 'timeout').mockImplementation((patience) => timeout(patience / 10));
    onTestFinished(() => sooner.mockRestore());
    misbehave();
    expect(await outcomeOf(fresh, known())).toBe('unavailable');
    const before = asked;
    expect(await outcomeOf(fresh, known({ jti: 'again' }))).toBe('unavailable');
    expect(asked).toBe(before);
    // it is asked again each hour
    pass(3_600_001);
    expect(await outcomeOf(knowing, known())).toBe('accepted');
    await expect.poll(() => asked).toBe(before + 1);
  });

  it('a remembered token is verified again once its key was removed, and one of our own keys is not', async () => {
    const tokens = start({ JWT_PUBLIC_KEY: pemOf(previous.publicKey) });
    const long = { expiresIn: 7_200 };
    const theirs = () => sign(current.privateKey, { keyid: 'current', ...long });
    const remembered = [theirs(), sign(previous.privateKey, long)];
    expect(await outcomeOf(tokens, theirs())).toBe('accepted');
    for (const token of remembered) tokens.remember(token, await tokens.verify(token));
    const areKnown = () => remembered.map((token) => tokens.known(token) !== undefined);
    expect(areKnown()).toEqual([true, true]);
    publish({ foreign });
    // they are asked for again each hour
    pass(3_600_001);
    await expect.poll(areKnown).toEqual([false, true]);
    expect(await outcomeOf(tokens, theirs())).toBe('invalid_token');
  });

  it('a token without the claim of scopes has none, unless a setting gives it some', async () => {
    const scopesOf = async (environment = {}) => (await start(environment).verify(known())).scopes;
    for (const environment of [{}, { JWT_DEFAULT_SCOPE: 'none' }]) expect(await scopesOf(environment)).toEqual([]);
    expect(await scopesOf({ JWT_DEFAULT_SCOPE: 'import read' })).toEqual(['read', 'import']);
  });

  it('claims may have other names', async () => {
    const named = start({ JWT_ORG_CLAIM: 'https://assent.example/org', JWT_SCOPE_CLAIM: 'permissions' });
    const claims = { 'https://assent.example/org': 'org_b', permissions: ['manage'], scope: 'read' };
    const access = await named.verify(known({ ...claims, org: undefined }));
    expect(access).toMatchObject({ organizationId: 'org_b', scopes: ['manage'] });
    expect(await outcomeOf(named, known())).toBe('invalid_token');
  });
});
