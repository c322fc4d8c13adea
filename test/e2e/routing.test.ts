import { beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type ProblemAnswer, request } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { exchange, problemIn } from '../support/raw-http.ts';
import { type Stack, useStack } from '../support/stack.ts';

describe('paths, methods and request ids', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await useStack();
  });

  const send = (method: string, path: string, headers: Record<string, string> = {}): Promise<Answer<ProblemAnswer>> =>
    request(stack.api.baseUrl, path, { method, headers });

  it.each([
    '/v1',
    '/domains/',
    '/domains/dom_x/',
    '/domains/dom_x/stats',
    '/domains/dom_x/log/',
    '/domains/a%20b',
    `/domains/${'x'.repeat(65)}/log`,
    '/assets',
    '/assets/',
    '/assets/index.html',
    '/assets/..%2findex.html',
    '/v1/consent',
    '/v1/consent/dom_x',
    '/v1/consent/dom_x/records/',
    '/v1/consent/dom_x/stats/x',
    '/v1/consent/dom_x/log',
    '/v1/consent/dom_x/log/',
    '/v1/consent/dom_x/log/tile',
    '/v1/consent/dom_x/log/checkpoint/',
    '/v1/consent/dom_x/records/x/',
    '/v1/consent/dom_x/records/x/proof/',
    '/v1/consent/dom_x/records/x/proofs',
    '/v1/consent//records',
    '/V1/organization',
    '/v1/organization/',
    '/v2/organization',
    '/index.html',
    '/favicon.ico',
    '/%',
    '/%ff',
    '/__proto__',
    '/livez',
    '/readyz',
    '/metrics',
    '/queues',
  ])('%s is not_found', async (path) => {
    expectProblem(await send('GET', path), 404, 'not_found');
  });

  it.each(['//', '//evil.example/x', '/docs/../../package.json', '/docs/%2e%2e%2f%2e%2e%2fpackage.json'])(
    '%s, as no client would send it, is not_found',
    async (path) => {
      const answer = await exchange(stack.api.baseUrl, [
        `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      ]);
      expect([answer.status, problemIn(answer).code]).toEqual([404, 'not_found']);
    },
  );

  it.each([
    ['GET', '/v1/consent/dom_x/record', ['OPTIONS', 'POST']],
    ['PUT', '/v1/consent/dom_x/record', ['OPTIONS', 'POST']],
    ['GET', '/v1/consent/dom_x/displays', ['OPTIONS', 'POST']],
    ['POST', '/v1/consent/org-stats', ['GET', 'HEAD']],
    ['POST', '/v1/consent/dom_x/stats', ['GET', 'HEAD']],
    ['PATCH', '/v1/consent/dom_x/records', ['GET', 'HEAD']],
    ['DELETE', '/v1/organization', ['GET', 'HEAD']],
    ['POST', '/v1/consent/dom_x/log/checkpoint', ['GET', 'HEAD']],
    ['PUT', '/v1/consent/dom_x/log/tile/0/000', ['GET', 'HEAD']],
    ['DELETE', '/v1/consent/dom_x/records/x', ['GET', 'HEAD']],
    ['POST', '/v1/consent/dom_x/records/x/proof', ['GET', 'HEAD']],
    ['POST', '/openapi.json', ['GET', 'HEAD']],
    ['POST', '/docs', ['GET', 'HEAD']],
  ])('%s %s is method_not_allowed, and Allow says what is', async (method, path, allowed) => {
    const answer = await send(method, path);
    expectProblem(answer, 405, 'method_not_allowed');
    expect(answer.headers.get('allow')?.split(', ').sort()).toEqual(allowed);
  });

  const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

  it.each([
    ['GET', '/nope', 404, /<p>This path does not exist\.<\/p>\n<p><a href="\/">/],
    ['GET', '/domains/a%20b', 404, /<p>This is not a valid domain id\./],
    ['POST', '/', 405, /<p>Allowed methods: HEAD, GET\./],
    ['HEAD', '/nope', 404, /^$/],
  ])('%s %s in a browser is a page (%i)', async (method, path, status, text) => {
    const answer = await fetch(stack.api.baseUrl + path, { method, headers: browser });
    const told = ['content-type', 'vary', 'content-security-policy'].map((name) => answer.headers.get(name));
    expect([answer.status, ...told]).toEqual([
      status,
      'text/html; charset=utf-8',
      'Accept',
      expect.stringMatching(/^default-src 'none';style-src 'sha256-\S+';.*;frame-ancestors 'none'$/),
    ]);
    expect(await answer.text()).toMatch(text);
  });

  it.each<[string, Record<string, string>, string | null]>([
    ['/nope', { accept: 'text/html;q=0.5, application/json' }, 'Accept'],
    ['/nope', {}, 'Accept'],
    ['/v1/nope', browser, null],
  ])('%s stays JSON with %j', async (path, headers, vary) => {
    const answer = await send('GET', path, headers);
    expectProblem(answer, 404, 'not_found');
    expect(answer.headers.get('vary')).toBe(vary);
  });

  it('no answer may be taken for another type than it says', async () => {
    for (const path of ['/', '/v1/organization', '/openapi.json', '/docs']) {
      expect((await send('GET', path)).headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it.each(['a', 'req-1_2.3', 'A'.repeat(64)])('X-Request-Id %s is echoed', async (id) => {
    const answer = await send('GET', '/v1/organization', { 'x-request-id': id });
    expect([answer.headers.get('x-request-id'), answer.body.requestId]).toEqual([id, id]);
  });

  it.each(['A'.repeat(65), 'a b', 'a/b', '<script>', 'é', ''])('X-Request-Id %j is replaced', async (id) => {
    const answer = await send('GET', '/v1/organization', { 'x-request-id': id });
    const given = answer.headers.get('x-request-id');
    expect(given).not.toBe(id);
    expect(given).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
    expect(answer.body.requestId).toBe(given);
  });

  it('every answer carries an id of its own', async () => {
    const record = () => stack.client.record(stack.domainId, stack.apiKey, { decision: 'custom' });
    const answers = await Promise.all([
      record(),
      record(),
      stack.client.organization(),
      send('GET', '/'),
      send('GET', '/openapi.json'),
      send('GET', '/docs'),
      send('GET', '/docs/docs.css'),
      send('OPTIONS', `/v1/consent/${stack.domainId}/record`),
      exchange(stack.api.baseUrl, ['broken\r\n\r\n']),
    ]);
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    expect(ids.filter((id) => !id)).toEqual([]);
    expect(new Set(ids).size).toBe(answers.length);
  });
});
