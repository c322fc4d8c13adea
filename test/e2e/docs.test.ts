import { beforeAll, describe, expect, it } from 'vitest';
import type { Addresses } from '../support/service.ts';
import { sharedStack } from '../support/stores.ts';

describe('the reference at /docs', () => {
  let api: Addresses;
  let page: Response;
  let html: string;

  beforeAll(async () => {
    ({ api } = sharedStack());
    page = await fetch(`${api.baseUrl}/docs`);
    html = await page.text();
  });

  const links = () => [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link]) => link ?? '');

  it('is a page', () => {
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toMatch(/^text\/html\b/);
  });

  it('may load nothing from elsewhere, run nothing inline and be framed by nobody', () => {
    const policy = Object.fromEntries(
      (page.headers.get('content-security-policy') ?? '').split(';').map((directive) => {
        const [name = '', ...values] = directive.trim().split(' ');
        return [name, values.join(' ')];
      }),
    );
    expect(policy).toMatchObject({
      'default-src': "'none'",
      'script-src': "'self'",
      'connect-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    });
    expect(Object.values(policy).join(' ')).not.toMatch(/https?:|\*|unsafe-eval/);
    expect(policy['script-src']).not.toContain('unsafe');
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/);
    expect(html).not.toMatch(/\son\w+=/);
  });

  it('has all its files from the service itself, each of its type', async () => {
    expect(links().length).toBeGreaterThanOrEqual(4);
    const types = { js: 'text/javascript', css: 'text/css', png: 'image/png' };
    for (const link of links()) {
      expect(link).toMatch(/^\/docs\//);
      const response = await fetch(api.baseUrl + link);
      expect({ link, status: response.status }).toEqual({ link, status: 200 });
      const type = Object.entries(types).find(([ending]) => link.endsWith(`.${ending}`))?.[1] ?? 'unknown';
      expect(response.headers.get('content-type')).toContain(type);
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(50);
    }
  });

  it('shows the document that the service serves', async () => {
    const script = await (await fetch(`${api.baseUrl}/docs/docs.js`)).text();
    expect(script).toContain("'/openapi.json'");
    expect((await fetch(`${api.baseUrl}/openapi.json`)).status).toBe(200);
  });
});
