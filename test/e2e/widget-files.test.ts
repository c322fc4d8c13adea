import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { startAssent } from '../../scripts/stack/assent-process.ts';
import { atEnd } from '../support/at-end.ts';
import { createCli } from '../support/cli.ts';
import { type ProblemAnswer, request } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { type Api, startApi } from '../support/service.ts';
import { jwtSecret } from '../support/settings.ts';
import { openStores, type Stores } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const names = ['widget', 'consent-mode', 'record-client', 'record-cookieconsent', 'record-klaro'];

describe('the files that websites load', () => {
  let stores: Stores;
  let api: Api;
  let pinned: string;

  beforeAll(async () => {
    stores = await openStores();
    api = await startApi(stores.env);
    pinned = await hashedPath('widget');
  });

  const get = (path: string, headers: Record<string, string> = {}, baseUrl = api.baseUrl) =>
    fetch(baseUrl + path, { headers: { 'accept-encoding': 'identity', ...headers } });
  const hashedPath = async (name: string) => {
    const content = Buffer.from(await (await get(`/${name}.js`)).arrayBuffer());
    return `/${name}-${createHash('sha256').update(content).digest('hex').slice(0, 16)}.js`;
  };

  it.each(names)('%s.js is asked for anew on every page, and sent only when it changed', async (name) => {
    const first = await get(`/${name}.js`);
    expect(first.status).toBe(200);
    const etag = first.headers.get('etag') ?? '';
    const shared = {
      'cache-control': 'no-cache',
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
      vary: 'Accept-Encoding',
      etag: expect.stringMatching(/^"[0-9a-f]{16}"$/),
    };
    expect(Object.fromEntries(first.headers)).toMatchObject({
      ...shared,
      'content-type': 'text/javascript; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
    const second = await get(`/${name}.js`, { 'if-none-match': etag });
    expect(second.status).toBe(304);
    expect(await second.text()).toBe('');
    expect(Object.fromEntries(second.headers)).toMatchObject(shared);
    expect((await get(`/${name}.js`, { 'if-none-match': '"another"' })).status).toBe(200);
  });

  it.each(names)('%s also has an address that never changes its content', async (name) => {
    const response = await get(await hashedPath(name));
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    expect(await response.text()).toBe(await (await get(`/${name}.js`)).text());
  });

  it('are packed for clients that take it', async () => {
    const plain = await get('/widget.js');
    const packed = await get('/widget.js', { 'accept-encoding': 'gzip' });
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(packed.headers.get('etag')).not.toBe(plain.headers.get('etag'));
    expect(await packed.text()).toBe(await plain.text());
    expect(Number(packed.headers.get('content-length'))).toBeLessThan(10_600);
  });

  it.each(['/widget-0123456789abcdef.js', '/widget-x.js', '/widget-.js', '/nothing.js', '/widget.js/'])(
    '%s, which no release had, is not_found and not kept in caches',
    async (missing) => {
      const answer = await request<ProblemAnswer>(api.baseUrl, missing);
      expectProblem(answer, 404, 'not_found');
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('cache-control') ?? 'no-store').toBe('no-store');
    },
  );

  it('other methods are refused', async () => {
    const answer = await request<ProblemAnswer>(api.baseUrl, '/widget.js', { method: 'POST' });
    expectProblem(answer, 405, 'method_not_allowed');
  });

  it('the command line prints the address and the integrity of its release', async () => {
    const cli = createCli({ ...stores.env, JWT_SECRET: jwtSecret });
    const { organizationId } = await cli.json<{ organizationId: string }>('org', 'create', 'Ann');
    const { domainId } = await cli.json<{ domainId: string }>('domain', 'create', organizationId, 'shop');
    const shown = await cli.json<{ widget: string; integrity: string }>('domain', 'show', domainId);
    expect(shown.widget).toBe(pinned);
    const content = Buffer.from(await (await get(shown.widget)).arrayBuffer());
    expect(shown.integrity).toBe(`sha384-${createHash('sha384').update(content).digest('base64')}`);
  });

  it('an address stays valid after an upgrade, in every process', async () => {
    // the next release: the same build with another widget
    const release = path.join(inject('folder'), 'next-release');
    mkdirSync(release);
    const dist = path.join(release, 'dist');
    cpSync(inject('dist'), dist, { recursive: true });
    const file = path.join(dist, 'apps/widget/widget.js');
    writeFileSync(file, `${readFileSync(file, 'utf8')}\n// the next one\n`);
    symlinkSync(path.resolve(import.meta.dirname, '../../node_modules'), path.join(release, 'node_modules'));

    const before = await (await get(pinned)).text();
    await eventually(async () => {
      const [row] = await stores.db.run((sql) => sql<{ n: number }[]>`select count(*)::int as n from widget_files`);
      expect(row?.n).toBe(names.length);
    });
    await api.stop();
    const env = {
      PATH: process.env.PATH,
      ...stores.env,
      JWT_SECRET: jwtSecret,
      HOST: '127.0.0.1',
      PORT: '0',
      OPS_PORT: '0',
    };
    const next = await startAssent(dist, 'api', env);
    atEnd(() => next.process.stop());
    const old = await get(pinned, {}, next.baseUrl);
    expect(old.status).toBe(200);
    expect(old.headers.get('cache-control')).toContain('immutable');
    expect(await old.text()).toBe(before);
    expect(await (await get('/widget.js', {}, next.baseUrl)).text()).toBe(`${before}\n// the next one\n`);

    // and while both releases run, the older one has the newer one's file
    const older = await startApi(stores.env);
    const fresh = createHash('sha256').update(`${before}\n// the next one\n`).digest('hex').slice(0, 16);
    const response = await eventually(async () => {
      const found = await get(`/widget-${fresh}.js`, { 'accept-encoding': 'gzip' }, older.baseUrl);
      expect(found.status).toBe(200);
      return found;
    });
    expect(await response.text()).toBe(`${before}\n// the next one\n`);
  });
});

describe('sizes, packed by gzip', () => {
  it.each([
    ['widget', 10_600],
    ['record-client', 2_100],
    ['consent-mode', 1_000],
    ['record-cookieconsent', 1_000],
    ['record-klaro', 1_000],
  ])('%s.js has at most %i bytes', (name, most) => {
    const content = readFileSync(path.join(inject('dist'), `apps/widget/${name}.js`));
    expect(gzipSync(content, { level: 9 }).length).toBeLessThanOrEqual(most);
  });
});
