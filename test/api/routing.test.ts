/** Paths, methods, request ids, and the headers of each kind of response. */
import { describe, expect, it } from 'vitest';
import { type Answer, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { exchange, problemIn } from '../support/raw-http.ts';
import { useStack } from '../support/stack.ts';

const stack = await useStack();

const send = (method: string, path: string, headers: Record<string, string> = {}): Promise<Answer<ProblemAnswer>> =>
  request(stack.api.baseUrl, path, { method, headers });

describe('paths, methods and request ids', () => {
  it.each([
    ...['/v1', '/v1/', '/V1/organization', '/v1/organization/', '/v2/organization', '/v1/consent', '/v1/consent/dom_x'],
    ...['/v1/consent/dom_x/records/', '/v1/consent/dom_x/stats/x', '/v1/consent/dom_x/log', '/v1/consent//records'],
    ...['/v1/consent/dom_x/log/tile', '/v1/consent/dom_x/records/x/', '/v1/consent/dom_x/records/x/proofs'],
    ...['/domains/', '/domains/dom_x/', '/domains/dom_x/stats', '/domains/a%20b', `/domains/${'x'.repeat(65)}/log`],
    ...['/assets', '/assets/', '/assets/index.html', '/assets/..%2findex.html', '/index.html', '/favicon.ico'],
    ...['/%', '/%ff', '/__proto__', '/livez', '/readyz', '/metrics', '/queues'],
  ])('%s is not_found', async (path) => {
    expectProblem(await send('GET', path), 404, 'not_found');
  });

  it.each(['//', '//evil.example/x', '/docs/../../package.json', '/docs/%2e%2e%2f%2e%2e%2fpackage.json'])(
    '%s, as no client would send it, is not_found',
    async (path) => {
      const head = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
      const answer = await exchange(stack.api.baseUrl, [head]);
      expect([answer.status, problemIn(answer).code]).toEqual([404, 'not_found']);
    },
  );

  it.each([
    ['GET', '/v1/consent/dom_x/record', ['OPTIONS', 'POST']],
    ['GET', '/v1/consent/dom_x/displays', ['OPTIONS', 'POST']],
    ['PATCH', '/v1/consent/dom_x/records', ['GET', 'HEAD']],
    ['POST', '/v1/consent/dom_x/notices/x', ['GET', 'HEAD', 'OPTIONS', 'PUT']],
    ['DELETE', '/v1/organization', ['GET', 'HEAD']],
    ['POST', '/docs', ['GET', 'HEAD']],
    ['POST', '/', ['GET', 'HEAD']],
    ['POST', '/widget.js', ['GET', 'HEAD']],
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
    const shown = ['content-type', 'vary', 'content-security-policy'].map((name) => answer.headers.get(name));
    expect([answer.status, ...shown]).toEqual([
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

  it('an X-Request-Id is echoed, and replaced where it is none', async () => {
    const given = async (id: string) => {
      const answer = await send('GET', '/v1/organization', { 'x-request-id': id });
      expect(answer.body.requestId).toBe(answer.headers.get('x-request-id'));
      return answer.body.requestId;
    };
    for (const id of ['req-1_2.3', 'A'.repeat(64)]) expect(await given(id)).toBe(id);
    for (const id of ['A'.repeat(65), 'a b', '<script>', 'é', '']) expect(await given(id)).toMatch(/^[\da-f]{16}$/);
  });

  it('every response has an id of its own, which does not show how many came before', async () => {
    const record = () => stack.client.record(stack.domainId, stack.apiKey, { decision: 'custom' });
    const responses = await Promise.all([
      record(),
      record(),
      ...['/', '/openapi.json', '/nothing'].map((path) => send('GET', path)),
      exchange(stack.api.baseUrl, ['broken\r\n\r\n']),
    ]);
    const ids = responses.map(({ headers }) => headers.get('x-request-id'));
    for (const id of ids) expect(id).toMatch(/^[\da-f]{16}$/);
    expect(new Set(ids.map((id) => id?.slice(0, 8))).size).toBe(ids.length);
  });
});

describe('the headers of a response', () => {
  const always = { 'x-content-type-options': 'nosniff', 'x-powered-by': null, server: null };
  /** What is for programs and for this service's own pages: no other site may load, frame or run it. */
  const closed = {
    ...always,
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'access-control-allow-origin': null,
  };
  const unstored = { ...closed, 'cache-control': 'no-store' };
  const page = (scripts: string, connects: string, rest: string, frames = "'none'") => ({
    ...always,
    'content-security-policy': `default-src 'none';script-src ${scripts};connect-src ${connects};base-uri 'none';form-action 'none';frame-ancestors ${frames};${rest}`,
    // whether there is TLS in front is the operator's matter
    'strict-transport-security': null,
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'SAMEORIGIN',
    'access-control-allow-origin': null,
    'cache-control': 'no-cache',
  });
  const dashboard = page("'self'", "'self'", "style-src 'self';img-src 'self';frame-src 'self'");
  // its script, a filter, asks for nothing
  const docs = page("'self'", "'none'", "style-src 'self'");
  // an origin of its own, which reaches no storage and sends nothing; the dashboard alone may frame it
  const preview = {
    ...page("'self'", "'none'", "style-src 'self';sandbox allow-scripts", "'self'"),
    'cross-origin-resource-policy': 'cross-origin',
    'cross-origin-opener-policy': null,
  };
  // its script and its style are part of it, and it loads nothing
  const verify = {
    ...closed,
    'content-security-policy': expect.stringMatching(
      /^default-src 'none';script-src 'sha256-[^']+';style-src 'sha256-[^']+';base-uri 'none';form-action 'none';frame-ancestors 'none'$/,
    ),
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-cache',
  };
  /** Other sites' pages are its readers. */
  const open = { ...always, 'cross-origin-resource-policy': null, 'access-control-allow-origin': '*', vary: 'Origin' };

  it.each<[string, string, string, number, object]>([
    ['GET', '/v1/organization', 'token', 200, unstored],
    ['GET', '/v1/consent/DOMAIN/records?page=0', 'token', 400, unstored],
    ['GET', '/v1/organization', 'nothing', 401, unstored],
    ['GET', '/v1/consent/DOMAIN/log/tile/0/000', 'token', 404, unstored],
    ['GET', '/assets/nothing.js', 'nothing', 404, unstored],
    ['GET', '/openapi.json', 'nothing', 200, closed],
    ['GET', '/nothing', 'nothing', 404, closed],
    ['DELETE', '/v1/organization', 'nothing', 405, closed],
    ['GET', '/', 'nothing', 200, dashboard],
    ['GET', '/verify', 'nothing', 200, verify],
    ['GET', '/widget-preview', 'nothing', 200, preview],
    ['GET', '/widget-preview/preview.js', 'nothing', 200, preview],
    ['GET', '/docs', 'nothing', 200, docs],
    ['POST', '/v1/consent/DOMAIN/record', 'key', 202, open],
    ['POST', '/v1/consent/DOMAIN/record', 'nothing', 401, open],
    ['OPTIONS', '/v1/consent/DOMAIN/record', 'nothing', 204, open],
    ['PUT', '/v1/consent/DOMAIN/record', 'nothing', 405, { ...open, 'cross-origin-resource-policy': 'same-origin' }],
  ])('to %s %s with %s (%i) are as they have to be', async (method, path, credential, status, expected) => {
    const response = await fetch(stack.api.baseUrl + path.replace('DOMAIN', stack.domainId), {
      method,
      headers: {
        origin: 'https://shop.example',
        'content-type': 'application/json',
        ...(credential === 'token' && { authorization: `Bearer ${tokenFor(stack.tenant.organizationId)}` }),
        ...(credential === 'key' && { 'x-api-key': stack.apiKey }),
      },
      body: method === 'POST' ? '{"decision":"custom"}' : null,
    });
    const found = Object.fromEntries(Object.keys(expected).map((name) => [name, response.headers.get(name)]));
    expect([response.status, found]).toEqual([status, expected]);
  });
});
