import { beforeAll, describe, expect, it } from 'vitest';
import { tokenFor } from '../support/client.ts';
import { type Stack, useStack } from '../support/stack.ts';

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
/** `loads`: what the page shows beside its own scripts and answers. */
const page = (loads: string) => ({
  ...always,
  'content-security-policy': `default-src 'none';script-src 'self';connect-src 'self';base-uri 'none';form-action 'none';frame-ancestors 'none';${loads}`,
  // whether there is TLS in front is the operator's matter
  'strict-transport-security': null,
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'SAMEORIGIN',
  'access-control-allow-origin': null,
});
const dashboard = { ...page("style-src 'self';img-src 'self';frame-src 'self'"), 'cache-control': 'no-cache' };
// without scripts
const docs = {
  ...page(''),
  'cache-control': 'no-cache',
  'content-security-policy':
    "default-src 'none';script-src 'none';connect-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none';style-src 'self'",
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
// an origin of its own, which reaches no storage and sends nothing; the dashboard alone may frame it
const preview = {
  ...page(''),
  'content-security-policy':
    "default-src 'none';script-src 'self';connect-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'self';style-src 'self';sandbox allow-scripts",
  'cross-origin-resource-policy': 'cross-origin',
  'cross-origin-opener-policy': null,
  'cache-control': 'no-cache',
};
/** Other sites' pages are its readers. */
const open = { ...always, 'cross-origin-resource-policy': null, 'access-control-allow-origin': '*', vary: 'Origin' };

describe('the headers of an answer', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await useStack();
  });

  it.each<[string, string, string, number, object]>([
    ['GET', '/v1/organization', 'token', 200, { ...closed, 'cache-control': 'no-store' }],
    ['GET', '/v1/consent/org-stats', 'token', 200, { ...closed, 'cache-control': 'no-store' }],
    ['GET', '/v1/consent/DOMAIN/records', 'token', 200, { ...closed, 'cache-control': 'no-store' }],
    ['GET', '/v1/consent/DOMAIN/records?page=0', 'token', 400, { ...closed, 'cache-control': 'no-store' }],
    ['GET', '/v1/consent/dom_unknown/records', 'token', 404, { ...closed, 'cache-control': 'no-store' }],
    ['GET', '/v1/organization', 'nothing', 401, { ...closed, 'cache-control': 'no-store' }],
    ['GET', '/v1/consent/DOMAIN/log/checkpoint', 'token', 404, { ...closed, 'cache-control': 'no-store' }],
    ['GET', '/v1/consent/DOMAIN/log/tile/0/000', 'token', 404, { ...closed, 'cache-control': 'no-store' }],
    ['GET', '/openapi.json', 'nothing', 200, closed],
    ['GET', '/nothing', 'nothing', 404, closed],
    ['DELETE', '/v1/organization', 'nothing', 405, closed],
    ['GET', '/', 'nothing', 200, dashboard],
    ['GET', '/domains/DOMAIN', 'nothing', 200, dashboard],
    ['GET', '/domains/DOMAIN/log', 'nothing', 200, dashboard],
    ['GET', '/assets/nothing.js', 'nothing', 404, { ...closed, 'cache-control': 'no-store' }],
    ['GET', '/domains/a%20b', 'nothing', 404, closed],
    ['GET', '/verify', 'nothing', 200, verify],
    ['HEAD', '/verify', 'nothing', 200, verify],
    ['GET', '/widget-preview', 'nothing', 200, preview],
    ['GET', '/widget-preview/preview.js', 'nothing', 200, preview],
    ['GET', '/docs', 'nothing', 200, docs],
    ['GET', '/docs/docs.css', 'nothing', 200, docs],
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
    expect(response.status).toBe(status);
    const found = Object.fromEntries(Object.keys(expected).map((name) => [name, response.headers.get(name)]));
    expect(found).toEqual(expected);
  });

  it("of the queues' page let it load only its own files, which are all that it asks for", async () => {
    const response = await fetch(`${stack.api.opsUrl}/queues`);
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'self';style-src 'self' 'unsafe-inline';img-src 'self' data:;object-src 'none';form-action 'none';frame-ancestors 'none'",
    );
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const html = await response.text();
    expect(html).toContain('Assent');
    expect(html).not.toMatch(/(?:src|href)="https?:/);
  });

  it.each(['/livez', '/readyz', '/metrics', '/nothing'])(
    'of %s on the operations port let nobody guess its type',
    async (path) => {
      const { headers } = await fetch(stack.api.opsUrl + path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('access-control-allow-origin')).toBeNull();
    },
  );
});
