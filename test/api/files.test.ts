/** What browsers load: the dashboard, the reference at /docs, and the files of the widget; their headers are in routing.test.ts. */
import { createHash } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, inject, it } from 'vitest';
import { pageNames, pageOf } from '#libs/base/terms/dashboard-pages';
import { hashOf } from '#libs/widget/files';
import { packPath, packs } from '#libs/widget/languages';
import { freePort } from '../../scripts/stack/ports.ts';
import { createCli } from '../support/cli.ts';
import { type ProblemAnswer, request } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { runApi, startApi } from '../support/service.ts';
import { useStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

/** the caching of files that never change */
const kept = 'public, max-age=31536000, immutable';

const stack = await useStack();

const get = (target: string, headers: Record<string, string> = {}, baseUrl = stack.api.baseUrl) =>
  fetch(baseUrl + target, { headers: { 'accept-encoding': 'identity', ...headers } });
/** Packed, once a release beside this one has kept it. */
const soon = (target: string, baseUrl?: string) =>
  eventually(async () => {
    const found = await get(target, { 'accept-encoding': 'gzip' }, baseUrl);
    expect(found.status).toBe(200);
    return found;
  });
const textOf = async (target: string) => (await get(target)).text();
const linksIn = (html: string) => [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link = '']) => link);
const packedSize = (content: string) => gzipSync(content, { level: 9 }).length;

it.each<[string, string]>([
  ['/', 'text/html; charset=utf-8'],
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/docs.css', 'text/css; charset=utf-8'],
  ['/openapi.json', 'application/json; charset=utf-8'],
  ['/widget.js', 'text/javascript; charset=utf-8'],
  ['/consent-mode.js', 'text/javascript; charset=utf-8'],
  ['/record-klaro.js', 'text/javascript; charset=utf-8'],
])(
  '%s is sent, compressed if accepted, only when it changed, which is asked for each time, or behind the page’s back',
  async (target, type) => {
    const plain = await get(target);
    const packed = await get(target, { 'accept-encoding': 'gzip' });
    expect([plain.status, plain.headers.get('content-type')]).toEqual([200, type]);
    expect([plain, packed].map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'gzip']);
    expect(await packed.text()).toBe(await plain.text());
    expect(packed.headers.get('etag')).not.toBe(plain.headers.get('etag'));
    const isFirst = ['/widget.js', '/consent-mode.js'].includes(target);
    const caching = isFirst ? 'public, max-age=300, stale-while-revalidate=86400, stale-if-error=604800' : 'no-cache';
    for (const { headers } of [plain, packed]) {
      const encoding = headers.get('content-encoding') ?? 'identity';
      const again = await get(target, { 'if-none-match': headers.get('etag') ?? '', 'accept-encoding': encoding });
      expect([again.status, await again.text(), again.headers.get('cache-control')]).toEqual([304, '', caching]);
    }
    expect((await get(target, { 'if-none-match': '"another"' })).status).toBe(200);
  },
);

it('pages that are opened by another name of this machine are led to the public one, and nothing else is', async () => {
  // another program may take the port first
  const startBelow = (path: string) =>
    eventually(async () => {
      const port = await freePort();
      const settings = { PORT: String(port), PUBLIC_URL: `http://localhost:${port}${path}` };
      return { port, ...(await runApi({ ...stack.env, ...settings })) };
    });
  const asked = async (baseUrl: string, accept: string) => {
    const target = '/domains/dom_1/log?page=2';
    const { status, headers } = await fetch(baseUrl + target, { headers: { accept }, redirect: 'manual' });
    return [status, headers.get('location')];
  };
  const [page, script] = ['text/html,application/xhtml+xml,*/*;q=0.8', '*/*'];
  const { port, stop } = await startBelow('');
  const at = `http://127.0.0.1:${port}`;
  expect(await asked(at, page)).toEqual([307, `http://localhost:${port}/domains/dom_1/log?page=2`]);
  expect(await asked(`http://localhost:${port}`, page)).toEqual([200, null]);
  expect(await asked(at, script)).toEqual([200, null]);
  await stop();
  // behind a proxy, which may have passed it on under this name
  const behind = await startBelow('/consent');
  expect(await asked(`http://127.0.0.1:${behind.port}`, page)).toEqual([200, null]);
  await behind.stop();
});

describe('the dashboard', () => {
  it('is one page at each of its addresses, with nothing inline and nothing from elsewhere', async () => {
    const html = await textOf('/');
    const values: Record<string, string> = {
      domainId: stack.domainId,
      by: 'device',
      erasureId: 'ers_1',
      which: 'wh_1',
    };
    const targets = pageNames.map((name) =>
      pageOf(name).path.replace(/:(\w+)/g, (param, each: string) => values[each] ?? param),
    );
    for (const target of [...targets, '/sign-in', '/webhooks/new', `/domains/${stack.domainId}/log?page=2`])
      expect(await textOf(target)).toBe(html);
    for (const target of ['/domains/dom_x/by/weather', '/webhooks/other', '/erasures/other', '/assets/index-0.js'])
      expectProblem(await request<ProblemAnswer>(stack.api.baseUrl, target), 404, 'not_found');
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/);
  });

  it('loads files that are cached without limit under names with their hash, and at most 40,000 bytes, gzipped', async () => {
    const html = await textOf('/');
    const assets = linksIn(html);
    expect(assets).toHaveLength(3);
    let size = packedSize(html);
    for (const address of assets) {
      expect(address).toMatch(/^\/assets\/[\w-]+-[\w-]{8}\.(js|css|svg)$/);
      const { status, headers } = await get(address, { 'accept-encoding': 'gzip' });
      expect([status, headers.get('cache-control')]).toEqual([200, kept]);
      expect(headers.get('content-encoding')).toBe('gzip');
      size += packedSize(await textOf(address));
    }
    expect(size).toBeLessThan(40_000);
  });
});

describe('the reference at /docs', () => {
  it('has every operation of the document and all that it links to, runs no inline script and is light', async () => {
    const html = await textOf('/docs');
    expect(html).not.toMatch(/<script(?! src=)|\son\w+=|\sstyle=/);
    const links = linksIn(html);
    const ids = new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id = '']) => id));
    expect(links.filter((link) => link.startsWith('#') && !ids.has(link.slice(1)))).toEqual([]);
    const files = new Set(links.filter((link) => !link.startsWith('#')));
    expect([...files].sort()).toEqual(['docs/docs.css', 'docs/docs.js', 'openapi.json']);
    const document: { paths: Record<string, Record<string, { operationId: string }>> } = JSON.parse(
      await textOf('/openapi.json'),
    );
    for (const [target, operations] of Object.entries(document.paths)) {
      for (const [method, { operationId }] of Object.entries(operations)) {
        const [section = ''] = html.split(`<section id="${operationId}"`).slice(1);
        expect(section).toContain(`<span class="method">${method.toUpperCase()}</span> <code>${target}</code>`);
        expect(section).toContain('<code>curl ');
      }
    }
    expect(packedSize(html)).toBeLessThan(40_000);
  });
});

describe('the files of the widget', () => {
  /** The hash of the texts that a widget was built with. */
  const textsIn = (script: string) =>
    /(?<=\/texts-|[`"'])(?!0123456789abcdef)[0-9a-f]{16}(?=[`"'/])/.exec(script)?.[0] ?? '';
  const hashedPath = (name: string, content: string) =>
    `/${name}-${createHash('sha256').update(content).digest('hex').slice(0, 16)}.js`;

  it.each([
    ['widget', 12_700],
    ['assent-preferences', 8_000],
    ['assent-extras', 4_000],
    ['assent-check', 12_000],
    ['record-client', 2_800],
    ['consent-mode', 1_000],
    ['record-cookieconsent', 1_000],
    ['record-klaro', 1_000],
    ['record-tarteaucitron', 1_000],
    ['record-c15t', 1_000],
    ['record-tcf', 1_000],
    ['bridge-shopify', 1_000],
    ['bridge-webflow', 1_000],
    ['record-wp-consent', 1_000],
    ['bridge-wp-consent', 1_000],
  ])(
    '%s may be loaded by any site, also from an address that never changes, in %i bytes, packed',
    async (name, most) => {
      const current = await get(`/${name}.js`);
      const content = await current.text();
      const pinned = await get(hashedPath(name, content));
      for (const { headers } of [current, pinned]) {
        const shared = [
          'cross-origin-resource-policy',
          'access-control-allow-origin',
          'vary',
          'x-content-type-options',
        ];
        expect(shared.map((each) => headers.get(each))).toEqual(['cross-origin', '*', 'Accept-Encoding', 'nosniff']);
      }
      expect([pinned.status, pinned.headers.get('cache-control')]).toEqual([200, kept]);
      expect(await pinned.text()).toBe(content);
      expect(packedSize(content)).toBeLessThanOrEqual(most);
    },
  );

  it.each(['/widget-0123456789abcdef.js', '/widget-x.js', '/nothing.js', '/widget.js/'])(
    '%s, which no release had, is not_found and not kept in caches',
    async (missing) => {
      const response = await request<ProblemAnswer>(stack.api.baseUrl, missing);
      expectProblem(response, 404, 'not_found');
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(response.headers.get('cache-control') ?? 'no-store').toBe('no-store');
    },
  );

  it('are named with their integrity by the command line', async () => {
    const cli = createCli(stack.env);
    const shown = await cli.json<{ widget: string; integrity: string }>('domain', 'show', stack.domainId);
    const content = await textOf('/widget.js');
    const integrity = `sha384-${createHash('sha384').update(content).digest('base64')}`;
    expect(shown).toMatchObject({ widget: hashedPath('widget', content), integrity });
  });

  it('stay at their addresses after an upgrade, and have those of the next release while both run', async () => {
    // the next release: the same build with another widget
    const dist = path.join(inject('folder'), 'next-release');
    cpSync(path.join(inject('dist'), 'apps'), path.join(dist, 'apps'), { recursive: true });
    const file = path.join(dist, 'apps/widget/widget.js');
    const before = readFileSync(file, 'utf8');
    const after = `${before}\n// the next one\n`;
    writeFileSync(file, after);
    const german = await textOf(packPath(textsIn(before), 'de'));
    expect(german).toContain('Alle ablehnen');
    const translated = JSON.stringify({ de: { title: 'Neu' } });
    writeFileSync(path.join(dist, 'apps/widget/texts.json'), translated);
    const next = await startApi(stack.env, { dist });
    const old = await soon(hashedPath('widget', before), next.baseUrl);
    expect([old.headers.get('cache-control'), await old.text()]).toEqual([kept, before]);
    expect(await (await get('/widget.js', {}, next.baseUrl)).text()).toBe(after);
    expect(await (await soon(hashedPath('widget', after))).text()).toBe(after);
    // each widget finds the texts that it was built with, from any release
    expect(await (await get(packPath(textsIn(before), 'de'), {}, next.baseUrl)).text()).toBe(german);
    expect(await textOf(packPath(hashOf(translated), 'de'))).toBe('{"title":"Neu"}');
  });

  it('texts in each language may be read by any site, from an address that never changes its content', async () => {
    const hash = textsIn(await textOf('/widget.js'));
    for (const language of packs) {
      const { status, headers } = await get(packPath(hash, language), { 'accept-encoding': 'gzip' });
      expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
      const shared = ['cross-origin-resource-policy', 'access-control-allow-origin', 'cache-control'];
      expect(shared.map((each) => headers.get(each))).toEqual(['cross-origin', '*', kept]);
      expect(headers.get('content-encoding')).toBe('gzip');
    }
    expect(await textOf(packPath(hash, 'sv'))).toContain('"reject":"Avvisa alla"');
    for (const missing of [packPath(hash, 'en'), packPath(hash, '__proto__'), packPath('0123456789abcdef', 'de')])
      expectProblem(await request<ProblemAnswer>(stack.api.baseUrl, missing), 404, 'not_found');
  });
});
