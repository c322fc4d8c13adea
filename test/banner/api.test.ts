import { get, type IncomingHttpHeaders } from 'node:http';
import { createContext, runInContext } from 'node:vm';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { version as release } from '#libs/base/version';
import type { ActsPage, KeysPage } from '#libs/tenants/contract';
import { createPublisher } from '../support/banner.ts';
import { createAsk } from '../support/client.ts';
import { openGate } from '../support/gate.ts';
import { expectBlame, expectProblem } from '../support/problems.ts';
import { startApi } from '../support/service.ts';
import { type StackWithApi, useStackWithApi, withOwnDomain } from '../support/stack.ts';
import { eventually, withinASecond } from '../support/wait.ts';

const stack = await useStackWithApi({ env: { CHANGE_RATE_PER_MINUTE: '0' } });
const { organizationId } = stack.tenant;
const ask = createAsk(stack.api.baseUrl, organizationId, { scope: 'publish' });
const manage = createAsk(stack.api.baseUrl, organizationId, { scope: 'manage' });

async function newSite() {
  const { domainId } = await withOwnDomain<StackWithApi>(stack);
  const domain = `/v1/organization/domains/${domainId}`;
  const { publishDraft: publish, ...publisher } = createPublisher({ ...stack, domainId });
  return {
    ...publisher,
    domainId,
    domain,
    publish,
    keys: async () => (await manage<KeysPage>('GET', `${domain}/keys`)).body.keys,
    script: (baseUrl = stack.api.baseUrl, query = '') => load(baseUrl, domainId, query),
  };
}

/** What a page has after the script's first line. */
async function load(baseUrl: string, domainId: string, query = '', assentConfig?: object) {
  const response = await fetch(`${baseUrl}/w/${domainId}.js${query}`);
  const text = await response.text();
  // a browser lets any site see the status
  expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  if (!response.ok)
    return { status: response.status, caching: response.headers.get('cache-control'), text, config: {} };
  const line = text.slice(0, text.indexOf('\n'));
  const window: { assentConfig?: Record<string, unknown> } = assentConfig ? { assentConfig: { ...assentConfig } } : {};
  runInContext(line, createContext({ window }));
  return {
    status: response.status,
    caching: response.headers.get('cache-control'),
    text,
    config: { ...window.assentConfig },
  };
}

/** As it is sent, which `fetch` unpacks. */
const raw = (address: string, headers: Record<string, string>) =>
  new Promise<{ status: number | undefined; headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
    get(address, { headers }, async (response) => {
      const body = Buffer.concat(await response.toArray());
      resolve({ status: response.statusCode, headers: response.headers, body });
    }).on('error', reject);
  });

const site = { company: 'Müller & Söhne', categories: 'analytics', policyVersion: '1' };

describe('a draft', () => {
  it('is empty, then what was saved; who saves an older one is told so', async () => {
    const { draft, save } = await newSite();
    const first = await draft();
    expect([first.body, first.headers.get('etag')]).toEqual([{}, '"0"']);
    const saved = await save(site, { 'if-match': '"0"' });
    expect([saved.status, saved.body, saved.headers.get('etag')]).toEqual([200, site, '"1"']);
    expectProblem(await save({}, { 'if-match': '"0"' }), 412, 'changed_meanwhile');
    expect((await draft()).body).toEqual(site);
  });

  it('has at most 64 KiB', async () => {
    const { save } = await newSite();
    const texts = (bytes: number) => ({ texts: { intro: 'x'.repeat(bytes - '{"texts":{"intro":""}}'.length) } });
    expect((await save(texts(65_536))).status).toBe(200);
    expectProblem(await save(texts(65_537)), 413, 'payload_too_large');
  });

  it.each([
    ['/domain', { domain: 'dom_x' }],
    ['/key', { key: 'ak_x' }],
    ['/api', { api: 'https://evil.example' }],
    ['/bannerVersion', { bannerVersion: '7' }],
    ['/colour', { colour: 'red' }],
    ['/policyUrl', { policyUrl: 'javascript:alert(1)' }],
  ])('is refused with %s, which is named', async (path, settings) => {
    const { save } = await newSite();
    const refused = await save(settings);
    expectBlame(refused, path);
  });

  it.each(['{"__proto__":{"a":1}}', '{"texts":{"de":{"constructor":"x"}}}'])(
    'is refused with a name that every object inherits, at any depth: %s',
    async (text) => {
      const { save } = await newSite();
      expectProblem(await save(JSON.parse(text)), 400, 'invalid_request');
    },
  );
});

describe('publishing', () => {
  it('makes versions from 1, with who, when and why; unchanged, the live one is answered', async () => {
    const { save, publish, versions, version } = await newSite();
    await save(site);
    const first = await publish({ note: 'begin' });
    expect([first.status, first.body]).toEqual([
      201,
      {
        version: 1,
        publishedAt: first.body.publishedAt,
        by: 'tester',
        note: 'begin',
        restored: null,
        asksAgain: false,
      },
    ]);
    const again = await publish({ note: 'the same' });
    expect([again.status, again.body]).toEqual([200, first.body]);
    await save({ ...site, company: 'Other' });
    expect((await publish()).body).toMatchObject({ version: 2, note: null, asksAgain: false });
    await save({ ...site, policyVersion: 2 });
    expect((await publish()).body).toMatchObject({ version: 3, asksAgain: true });
    await save({ ...site, policyVersion: 2, categories: [{ id: 'analytics' }, 'marketing'] });
    expect((await publish()).body).toMatchObject({ version: 4, asksAgain: true });

    const page = (await versions('limit=3')).body;
    expect(page.versions.map((each) => each.version)).toEqual([4, 3, 2]);
    expect((await versions(`cursor=${page.nextCursor}`)).body.versions).toEqual([first.body]);
    expect((await version(1)).body).toEqual({ ...first.body, settings: site });
    expectProblem(await version(5), 404, 'version_not_found');
  });

  it('puts an earlier version back as a new one; the draft stays', async () => {
    const { save, publish, draft, script } = await newSite();
    await save(site);
    await publish();
    await save({ ...site, company: 'Other' });
    await publish();
    expectProblem(await publish({ version: 3 }), 404, 'version_not_found');
    expect((await publish({ version: 1 })).body).toMatchObject({ version: 3, restored: 1, asksAgain: false });
    expect((await draft()).body).toMatchObject({ company: 'Other' });
    expect((await script()).config).toMatchObject({ company: site.company, bannerVersion: '3' });
  });

  it('is once for an Idempotency-Key, and an act', async () => {
    const { domainId, save, publish } = await newSite();
    await save(site);
    const headers = { 'idempotency-key': domainId };
    const first = await publish({ note: 'once' }, headers);
    await save({ ...site, company: 'Other' });
    const second = await publish({ note: 'once' }, headers);
    expect([second.status, second.body, second.headers.get('idempotent-replayed')]).toEqual([201, first.body, 'true']);
    const { acts } = (await manage<ActsPage>('GET', '/v1/organization/acts?limit=10')).body;
    const ofDomain = acts.filter(({ subject, details }) => subject === domainId || details.domainId === domainId);
    // saving a draft is none
    expect(ofDomain.map(({ act }) => act)).toEqual(['banner.publish', 'key.create', 'key.create', 'domain.create']);
    const [published, created] = ofDomain;
    expect(published).toMatchObject({
      act: 'banner.publish',
      subject: domainId,
      details: { version: 1, note: 'once' },
    });
    expect(created).toMatchObject({ act: 'key.create', details: { isOfPage: true } });
  });

  it('needs the scope publish or manage, which read does not give; publish gives nothing else', async () => {
    const { domain } = await newSite();
    const read = createAsk(stack.api.baseUrl, organizationId, { scope: 'read' });
    expect((await read('GET', `${domain}/banner`)).status).toBe(200);
    expectProblem(await read('POST', `${domain}/banner/publish`, { body: {} }), 403, 'insufficient_scope');
    expectProblem(await read('PUT', `${domain}/banner`, { body: {} }), 403, 'insufficient_scope');
    expectProblem(await ask('GET', `${domain}/keys`), 403, 'insufficient_scope');
    expect((await manage('POST', `${domain}/banner/publish`, { body: {} })).status).toBe(201);
  });

  it('ends after 1,000 versions', async () => {
    const { domainId, save, publish } = await newSite();
    await stack.sql`
      insert into banner_versions (domain_number, number, published_by, asks_again, settings)
      select number, 1000, 'test', false, '{}' from domains where id = ${domainId}`;
    await save(site);
    expectProblem(await publish(), 409, 'quota_exceeded');
  });
});

describe('the script', () => {
  it('is the settings, the key and the widget, also gzipped; a query changes nothing', async () => {
    const { domainId, save, publish, keys, script } = await newSite();
    const hostile = { ...site, texts: { intro: '</script><!-- \u2028\u2029' } };
    await save(hostile);
    await publish();
    const { config, text, caching } = await script();
    expect(config).toEqual({ ...hostile, bannerVersion: '1', domain: domainId, key: config.key, api: '..' });
    const [key] = await keys();
    expect(String(config.key).slice(0, 11)).toBe(key?.prefix);
    expect(caching).toBe((await fetch(`${stack.api.baseUrl}/widget.js`)).headers.get('cache-control'));
    expect(text).not.toMatch(/<\/script|[\u2028\u2029]/);
    expect(text.slice(text.indexOf('\n') + 1)).toBe(await (await fetch(`${stack.api.baseUrl}/widget.js`)).text());
    expect((await script(undefined, '?domain=dom_x&key=ak_x')).text).toBe(text);

    const address = `${stack.api.baseUrl}/w/${domainId}.js`;
    const { body, headers } = await raw(address, { 'accept-encoding': 'gzip' });
    expect([headers['content-encoding'], gunzipSync(body).toString()]).toEqual(['gzip', text]);
    const etag = String(headers.etag);
    expect((await raw(address, { 'accept-encoding': 'gzip', 'if-none-match': etag })).status).toBe(304);
    const widget = await raw(`${stack.api.baseUrl}/widget.js`, { 'accept-encoding': 'gzip' });
    expect(body.length - widget.body.length).toBeLessThan(gzipSync(JSON.stringify(hostile)).length + 256);
  });

  it("contains the widget's third file where the settings need it", async () => {
    const { save, publish, script } = await newSite();
    const [widget, extras] = await Promise.all(
      ['widget', 'assent-extras'].map(async (name) => (await fetch(`${stack.api.baseUrl}/${name}.js`)).text()),
    );
    for (const [settings, rest] of [
      [{ ...site, experiment: { id: 'a', variants: [{ name: 'x' }] } }, `${extras}${widget}`],
      [site, widget],
    ] as const) {
      await save(settings);
      await publish();
      const { text } = await script();
      expect(text.slice(text.indexOf('\n') + 1)).toBe(rest);
    }
  });

  it("lets the page's own settings win, but never its domain and key", async () => {
    const { domainId, save, publish } = await newSite();
    await save({ ...site, colors: { button: '#000', text: '#fff' } });
    await publish();
    const own = { colors: { button: '#111' }, domain: 'dom_other', key: 'ak_other', api: 'https://other.example' };
    const { config } = await load(stack.api.baseUrl, domainId, '', own);
    expect(config).toMatchObject({ colors: { button: '#111' }, company: site.company, domain: domainId, api: '..' });
    expect([config.colors, config.key === 'ak_other']).toEqual([{ button: '#111' }, false]);
  });

  it('of a domain that never published has its address and the release alone; of none it is a 404', async () => {
    const { domainId, script } = await newSite();
    expect((await script()).config).toEqual({ domain: domainId, api: '..', bannerVersion: release });
    for (const unknown of ['dom_none', '%00', 'a'.repeat(65)])
      expect(await load(stack.api.baseUrl, unknown)).toMatchObject({ status: 404, caching: 'public, max-age=60' });
  });

  it('has the next key within a second once its own is revoked, in every process', async () => {
    const other = await startApi(stack.env);
    const { domain, domainId, save, publish, keys, script } = await newSite();
    await save(site);
    await publish();
    await script(other.baseUrl);
    const before = (await script()).config.key;
    const revoked = await manage('DELETE', `${domain}/keys/${String(before).slice(0, 11)}`);
    expect(revoked.status).toBe(200);
    const { key } = (await script()).config;
    expect(key).not.toBe(before);
    await eventually(async () => expect((await script(other.baseUrl)).config.key).toBe(key), withinASecond);
    expect((await stack.client.record(domainId, String(key), { decision: 'accept_all' })).status).toBe(202);
    const listed = (await keys()).map(({ revokedAt, isOfPage }) => [revokedAt === null, isOfPage]);
    expect(listed).toEqual([
      [true, true],
      [false, true],
      [true, false],
    ]);

    await save({ ...site, company: 'Other' });
    await publish();
    await eventually(async () => expect((await script(other.baseUrl)).config.company).toBe('Other'));
    expect((await publish({ version: 1 })).body.version).toBe(3);
    expect((await script()).config.key).toBe(key);
  });

  it('of an archived domain is a 404, and of a restored one has a new key', async () => {
    const { domain, save, publish, script } = await newSite();
    await save(site);
    await publish();
    const before = (await script()).config.key;
    await manage('DELETE', domain);
    expect((await script()).status).toBe(404);
    expectProblem(await publish(), 409, 'domain_archived');
    await manage('PATCH', domain, { body: { archivedAt: null } });
    const { config } = await script();
    expect([config.company, config.key === before, /^ak_/.test(String(config.key))]).toEqual([
      site.company,
      false,
      true,
    ]);
  });

  it('is served from memory while Postgres is away; one that is not there is a 503 that nobody keeps', async () => {
    const gate = await openGate(stack.env.DATABASE_URL);
    const behind = await startApi({ ...stack.env, DATABASE_URL: gate.url });
    const [known, other] = [await newSite(), await newSite()];
    for (const { save, publish } of [known, other]) {
      await save(site);
      await publish();
    }
    // an act that the process learns of later empties its memory once more
    await eventually(async () => {
      gate.open();
      const { text, config } = await known.script(behind.baseUrl);
      expect(config.key).toBeDefined();
      gate.shut();
      expect((await known.script(behind.baseUrl)).text).toBe(text);
    });
    expect(await other.script(behind.baseUrl)).toMatchObject({ status: 503, caching: 'no-store' });
    gate.open();
    await eventually(async () => expect((await other.script(behind.baseUrl)).status).toBe(200));
  });
});
