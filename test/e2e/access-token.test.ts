import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import jsonwebtoken from 'jsonwebtoken';
import { beforeAll, describe, expect, it } from 'vitest';
import { atEnd } from '../support/at-end.ts';
import { type Answer, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { jwtSecret } from '../support/settings.ts';
import { type Stack, useStackWithApi } from '../support/stack.ts';

const previousSecret = 'the secret that these tests have rotated away';
const seconds = () => Math.floor(Date.now() / 1000);
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
/** A token whose header says what its signature is not. */
const forged = (header: object | null, claims: object, secret?: string) => {
  const signed = `${part(header)}.${part(claims)}`;
  return `${signed}.${secret ? createHmac('sha256', secret).update(signed).digest('base64url') : ''}`;
};

describe('an access token', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await useStackWithApi({ env: { JWT_SECRET_PREVIOUS: previousSecret } });
  });

  const get = (path: string, authorization?: string): Promise<Answer<ProblemAnswer>> =>
    request(stack.api.baseUrl, path, { headers: authorization === undefined ? {} : { authorization } });

  const reads = () => [
    '/v1/consent/org-stats',
    '/v1/organization',
    `/v1/consent/${stack.domainId}/stats?from=2026-01-01&to=2026-01-31`,
    `/v1/consent/${stack.domainId}/records`,
  ];

  it('is required by every read', async () => {
    for (const path of reads()) {
      const answer = await get(path);
      expectProblem(answer, 401, 'missing_token');
      expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="assent"');
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
  });

  it('opens every read', async () => {
    for (const path of reads()) {
      const { status, headers } = await get(path, `Bearer ${tokenFor(stack.tenant.organizationId)}`);
      expect({ path, status, cache: headers.get('cache-control') }).toEqual({ path, status: 200, cache: 'no-store' });
    }
  });

  const claims = (organizationId: string, change: object = {}) => ({
    sub: 'tester',
    org: organizationId,
    exp: seconds() + 600,
    ...change,
  });
  /** jsonwebtoken would put in what is left out here */
  const signed = (payload: object, secret = jwtSecret) => forged({ alg: 'HS256', typ: 'JWT' }, payload, secret);

  /** A payload that no JSON.stringify would write. */
  const signedRaw = (payload: string) => {
    const content = `${part({ alg: 'HS256', typ: 'JWT' })}.${Buffer.from(payload).toString('base64url')}`;
    return `${content}.${createHmac('sha256', jwtSecret).update(content).digest('base64url')}`;
  };

  it.each<[string, (organizationId: string) => string]>([
    ['with the current secret', (id) => `Bearer ${signed(claims(id))}`],
    ['with the previous secret, while keys rotate', (id) => `Bearer ${signed(claims(id), previousSecret)}`],
    ['with the scheme in lower case', (id) => `bearer ${signed(claims(id))}`],
    ['that expired within the tolerance of clocks', (id) => `Bearer ${signed(claims(id, { exp: seconds() - 5 }))}`],
  ])('%s is accepted', async (_, authorization) => {
    expect((await get('/v1/organization', authorization(stack.tenant.organizationId))).status).toBe(200);
  });

  it.each<[string, (organizationId: string) => string]>([
    ['that is garbage', () => 'Bearer garbage'],
    ['that is no token at all', () => 'Bearer a.b.c'],
    ['that is empty', () => 'Bearer'],
    ['in two parts', (id) => `Bearer ${signed(claims(id)).split('.').slice(0, 2).join('.')}`],
    ['of another scheme', (id) => `Basic ${signed(claims(id))}`],
    ['without a scheme', (id) => signed(claims(id))],
    ['with something behind it', (id) => `Bearer ${signed(claims(id))} x`],
    ['of alg none', (id) => `Bearer ${forged({ alg: 'none', typ: 'JWT' }, claims(id))}`],
    ['of alg none with a signature', (id) => `Bearer ${forged({ alg: 'none' }, claims(id), jwtSecret)}`],
    [
      'of another algorithm with the same secret',
      (id) => `Bearer ${jsonwebtoken.sign(claims(id), jwtSecret, { algorithm: 'HS512' })}`,
    ],
    ['with another secret', (id) => `Bearer ${signed(claims(id), `${jwtSecret}.`)}`],
    [
      'whose claims were changed',
      (id) => `Bearer ${signed(claims('org_x')).replace(/\..*\./, `.${part(claims(id))}.`)}`,
    ],
    ['that expired', (id) => `Bearer ${signed(claims(id, { exp: seconds() - 60 }))}`],
    ['that is not valid yet', (id) => `Bearer ${signed(claims(id, { nbf: seconds() + 60 }))}`],
    ['without exp', (id) => `Bearer ${signed(claims(id, { exp: undefined }))}`],
    ['whose exp is text', (id) => `Bearer ${signed(claims(id, { exp: '9999999999' }))}`],
    ['without sub', (id) => `Bearer ${signed(claims(id, { sub: undefined }))}`],
    ['with an empty sub', (id) => `Bearer ${signed(claims(id, { sub: '' }))}`],
    ['without org', (id) => `Bearer ${signed(claims(id, { org: undefined }))}`],
    ['whose org is a list', (id) => `Bearer ${signed(claims(id, { org: [id] }))}`],
    ['of an unknown organization', () => `Bearer ${signed(claims('org_unknown'))}`],
    ['of an organization that no database can hold', () => `Bearer ${signed(claims('org\0'))}`],
    ['that is valid for ever', (id) => `Bearer ${signedRaw(`{"sub":"x","org":"${id}","exp":1e999}`)}`],
    ['whose payload is no JSON', () => `Bearer ${signedRaw('{"sub":')}`],
    ['whose payload is null', () => `Bearer ${signedRaw('null')}`],
    ['whose header is null', (id) => `Bearer ${forged(null, claims(id), jwtSecret)}`],
    [
      'whose header asks for what nobody knows',
      (id) => `Bearer ${forged({ alg: 'HS256', crit: ['x'], x: 1 }, claims(id), jwtSecret)}`,
    ],
    ['whose kid is no text', (id) => `Bearer ${forged({ alg: 'HS256', kid: ['a'] }, claims(id), jwtSecret)}`],
    ['whose kid is null', (id) => `Bearer ${forged({ alg: 'HS256', kid: null }, claims(id), jwtSecret)}`],
    [
      'that brings its own key',
      (id) => `Bearer ${forged({ alg: 'HS256', jwk: { kty: 'oct', k: part('own') } }, claims(id), '"own"')}`,
    ],
    ['of 12,000 characters', (id) => `Bearer ${signed(claims(id, { x: 'x'.repeat(8_900) }))}`],
    ['of 12,000 characters that are none', () => `Bearer ${'x'.repeat(12_000)}`],
    ['whose payload is text', () => `Bearer ${jsonwebtoken.sign('text', jwtSecret)}`],
  ])('%s is an invalid_token', async (_, authorization) => {
    const answer = await get('/v1/organization', authorization(stack.tenant.organizationId));
    expectProblem(answer, 401, 'invalid_token');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="assent", error="invalid_token"');
  });

  it.each<[string, object]>([
    ['exp', { exp: undefined }],
    ['sub', { sub: undefined }],
    ['org', { org: undefined }],
    ['org', { org: ['org_a'] }],
    ['org', { org: { length: 1 } }],
  ])('without %s is refused for that, before anybody is looked for: %j', async (name, change) => {
    const answer = await get('/v1/organization', `Bearer ${signed(claims(stack.tenant.organizationId, change))}`);
    expectProblem(answer, 401, 'invalid_token');
    expect(answer.body.detail).toBe(`the token has no \`${name}\``);
  });

  it('is never asked where its key is', async () => {
    const asked: string[] = [];
    const server = createServer((incoming, response) => {
      asked.push(incoming.url ?? '');
      response.end('{"keys":[]}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
    for (const header of [{ jku: url }, { x5u: url }, { jku: url, kid: url }, { kid: '../../../dev/null' }]) {
      const token = forged({ alg: 'HS256', ...header }, claims(stack.tenant.organizationId), 'of my own');
      expectProblem(await get('/v1/organization', `Bearer ${token}`), 401, 'invalid_token');
    }
    // the server answers, so that silence means that nobody asked
    await fetch(`${url}?me`);
    expect(asked).toEqual(['/keys?me']);
  });

  it('larger than all headers may be never gets that far', async () => {
    expectProblem(await get('/v1/organization', `Bearer ${'x'.repeat(20_000)}`), 400, 'invalid_request');
  });

  it('is not an API key, and an API key is none', async () => {
    expectProblem(await get('/v1/organization', `Bearer ${stack.apiKey}`), 401, 'invalid_token');
    const token = tokenFor(stack.tenant.organizationId);
    expectProblem(await stack.client.record(stack.domainId, token, { decision: 'custom' }), 401, 'invalid_api_key');
  });
});
