/** Access tokens of a provider whose keys the API fetches by HTTP. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import jsonwebtoken from 'jsonwebtoken';
import { beforeAll, describe, expect, it } from 'vitest';
import { atEnd } from '../support/at-end.ts';
import { type ProblemAnswer, request } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { startApi } from '../support/service.ts';
import { type Stores, useStores } from '../support/stack.ts';
import { makeTenant, type Tenant } from '../support/stores.ts';

const issuer = 'https://id.example.com/';
const audience = 'assent';

interface Pair {
  kid: string;
  publicKey: KeyObject;
  privateKey: KeyObject;
}

const makePair = (kid: string): Pair => ({ kid, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) });
const first = makePair('first');
const second = makePair('second');
const never = makePair('never');

/** A provider's page of keys, which answers as it is told. */
async function startProvider() {
  let asked = 0;
  let answer: (response: ServerResponse) => void = () => {};
  const server = createServer((_, response) => {
    asked += 1;
    answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => void server.close());
  const sendText = (text: string, status = 200) => {
    answer = (response) => void response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
    asked: () => asked,
    sendText,
    publish: (...pairs: Pair[]) =>
      sendText(
        JSON.stringify({
          keys: pairs.map(({ kid, publicKey }) => ({
            ...publicKey.export({ format: 'jwk' }),
            kid,
            alg: 'RS256',
            use: 'sig',
          })),
        }),
      ),
    send: (how: (response: ServerResponse) => void) => {
      answer = how;
    },
  };
}

describe('access tokens of a provider', () => {
  let stores: Stores;
  let tenant: Tenant;
  let provider: Awaited<ReturnType<typeof startProvider>>;
  let baseUrl: string;
  /** a process that fetched the keys while the provider was well */
  let knowing: string | undefined;

  const start = async (env: Record<string, string> = {}) => {
    const api = await startApi({
      ...stores.env,
      JWT_ALGORITHM: 'RS256',
      JWT_JWKS_URL: provider.url,
      JWT_ISSUER: issuer,
      JWT_AUDIENCE: audience,
      ...env,
    });
    return api.baseUrl;
  };
  beforeAll(async () => {
    stores = useStores();
    [tenant, provider] = await Promise.all([makeTenant(stores.db), startProvider()]);
    provider.publish(first);
    baseUrl = await start();
  });

  const tokenOf = ({ kid, privateKey }: Pair, claims: object = {}, header: object = { kid }) =>
    jsonwebtoken.sign({ sub: 'mara', org: tenant.organizationId, iss: issuer, aud: audience, ...claims }, privateKey, {
      algorithm: 'RS256',
      expiresIn: 600,
      header: { alg: 'RS256', ...header },
    });
  const read = (token: string, base = baseUrl) =>
    request<ProblemAnswer>(base, '/v1/organization', { headers: { authorization: `Bearer ${token}` } });

  it('are taken, and their keys are fetched once', async () => {
    expect(provider.asked()).toBe(0);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => read(tokenOf(first, { jti: String(n) }))));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(provider.asked()).toBe(1);
  });

  it.each<[string, () => string]>([
    ['of another issuer', () => tokenOf(first, { iss: 'https://other.example.com/' })],
    ['for another audience', () => tokenOf(first, { aud: 'other-client' })],
    ['of an unknown organization', () => tokenOf(first, { org: 'org_none' })],
    ['signed with a key of somebody else under a known id', () => tokenOf({ ...never, kid: 'first' })],
    ['with an id that the provider does not have', () => tokenOf(never)],
    ['whose id is no text', () => tokenOf(first, {}, { kid: 1 })],
    [
      'that is signed with the public key as a secret',
      () => {
        const secret = first.publicKey.export({ type: 'spki', format: 'pem' }).toString();
        const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
        return `${part({ alg: 'HS256', kid: 'first' })}.${part({ sub: 'x', org: tenant.organizationId, secret })}.x`;
      },
    ],
  ])('is refused where it is one %s', async (_, make) => {
    expectProblem(await read(make()), 401, 'invalid_token');
  });

  it('made-up ids ask the provider at most once a minute, and those of known keys go on', async () => {
    const before = provider.asked();
    const flood = Array.from({ length: 50 }, (_, n) => read(tokenOf({ ...never, kid: `made-up-${n}` })));
    for (const answer of await Promise.all(flood)) expectProblem(answer, 401, 'invalid_token');
    expect((await read(tokenOf(first))).status).toBe(200);
    expect(provider.asked() - before).toBeLessThanOrEqual(1);
  });

  it('a new key is taken at once by a process that has not asked for a minute', async () => {
    provider.publish(second, first);
    const fresh = await start();
    expect((await read(tokenOf(second), fresh)).status).toBe(200);
    expect((await read(tokenOf(first), fresh)).status).toBe(200);
  });

  it.each<[string, () => void]>([
    ['an error', () => provider.sendText('{}', 500)],
    ['a page for people', () => provider.sendText('<!doctype html><title>Sign in</title>')],
    ['no keys', () => provider.sendText('{"error":"none"}')],
    ['10 MB', () => provider.sendText(JSON.stringify({ keys: [], filler: 'x'.repeat(10_000_000) }))],
    ['nothing for long', () => provider.send(() => {})],
    ['another address', () => provider.send((response) => void response.writeHead(302, { location: '/' }).end())],
  ])('while the provider sends %s the answer is a 503 in time, and the keys at hand hold', async (what, misbehave) => {
    if (!knowing) {
      provider.publish(first);
      knowing = await start();
      expect((await read(tokenOf(first), knowing)).status).toBe(200);
    }
    misbehave();
    const fresh = await start();
    const started = performance.now();
    const refused = await read(tokenOf(first), fresh);
    expectProblem(refused, 503, 'unavailable');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(performance.now() - started).toBeLessThan(9_000);
    // and it is not asked again at once
    const asked = provider.asked();
    expectProblem(await read(tokenOf(first, { jti: 'again' }), fresh), 503, 'unavailable');
    expect(provider.asked()).toBe(asked);
    expect((await read(tokenOf(first, { jti: what }), knowing)).status).toBe(200);
  });

  it('claims may have other names', async () => {
    provider.publish(first);
    const named = await start({ JWT_ORG_CLAIM: 'https://assent.example/org', JWT_SCOPE_CLAIM: 'permissions' });
    const token = tokenOf(first, {
      org: undefined,
      'https://assent.example/org': tenant.organizationId,
      permissions: ['manage'],
      scope: 'read',
    });
    const { status, body } = await read(token, named);
    expect([status, (body as unknown as { scopes: string[] }).scopes]).toEqual([200, ['manage']]);
    expectProblem(await read(tokenOf(first), named), 401, 'invalid_token');
  });
});
