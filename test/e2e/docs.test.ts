import { beforeAll, describe, expect, it } from 'vitest';
import { exchange } from '../support/raw-http.ts';
import type { Addresses } from '../support/service.ts';
import { sharedStack } from '../support/shared.ts';

describe('the reference at /docs', () => {
  let api: Addresses;
  let page: Response;
  let html: string;

  beforeAll(async () => {
    ({ api } = sharedStack());
    page = await fetch(`${api.baseUrl}/docs`);
    html = await page.text();
  });

  it('is a page', () => {
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toMatch(/^text\/html\b/);
  });

  it('loads nothing from elsewhere, runs no script and is framed by nobody', () => {
    const policy = page.headers.get('content-security-policy')?.split(';').sort();
    expect(policy).toEqual([
      "base-uri 'none'",
      "connect-src 'none'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "script-src 'none'",
      "style-src 'self'",
    ]);
    expect(html).not.toMatch(/<script|\son\w+=|\sstyle=/);
  });

  it('has everything that it links to', async () => {
    const links = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link = '']) => link);
    const ids = new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id = '']) => id));
    expect(links.filter((link) => link.startsWith('#') && !ids.has(link.slice(1)))).toEqual([]);
    const files = [...new Set(links.filter((link) => !link.startsWith('#')))].sort();
    expect(files).toEqual(['/docs/docs.css', '/openapi.json']);
    for (const file of files) expect((await fetch(api.baseUrl + file)).status).toBe(200);
  });

  it('has every operation of the document, with its address and a command', async () => {
    const document = (await (await fetch(`${api.baseUrl}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, { operationId }] of Object.entries(operations)) {
        const [section = ''] = html.split(`<section id="${operationId}"`).slice(1);
        expect(section).toContain(`<span class="method">${method.toUpperCase()}</span> <code>${path}</code>`);
        expect(section).toContain('<code>curl ');
      }
    }
  });

  it.each(['/docs', '/docs/docs.css', '/openapi.json'])(
    '%s is sent compressed, and then only if it changed',
    async (path) => {
      const first = await fetch(api.baseUrl + path, { headers: { 'accept-encoding': 'gzip' } });
      expect(first.headers.get('content-encoding')).toBe('gzip');
      const text = await first.text();
      const plain = await fetch(api.baseUrl + path, { headers: { 'accept-encoding': 'identity' } });
      expect(plain.headers.get('content-encoding')).toBeNull();
      expect(await plain.text()).toBe(text);
      const again = { 'accept-encoding': 'gzip', 'if-none-match': first.headers.get('etag') ?? '' };
      expect((await fetch(api.baseUrl + path, { headers: again })).status).toBe(304);
    },
  );

  it('is light', async () => {
    const request = 'GET /docs HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n';
    const { headers } = await exchange(api.baseUrl, [request]);
    expect(Number(headers.get('content-length'))).toBeLessThan(40_000);
  });
});
