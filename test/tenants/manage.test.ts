/** An organization that manages itself over HTTP: domains, keys, and who did what. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAdministration } from '#libs/tenants/administration';
import type { ActsPage, DomainsPage, Key, KeysPage, MadeKey, ManagedDomain } from '#libs/tenants/contract';
import { createAsk, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { holdTheMinute } from '../support/clock.ts';
import { expectBlame, expectProblem } from '../support/problems.ts';
import { startApi } from '../support/service.ts';
import { at, useStack } from '../support/stack.ts';
import { makeTenant, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const domains = '/v1/organization/domains';

const stack = await useStack();
const others = await makeTenant(stack.db);

describe('an organization', () => {
  const askAs = ({ organizationId }: Tenant, baseUrl = stack.api.baseUrl) =>
    createAsk(baseUrl, organizationId, { scope: 'manage', sub: 'mara' });
  const ask = askAs(stack.tenant);
  const make = async (name: string, origins?: string[]) => {
    const { status, body } = await ask<ManagedDomain>('POST', domains, { body: { name, origins } });
    expect(status).toBe(201);
    return body;
  };
  const makeKey = async (domainId: string) => {
    const { status, body } = await ask<MadeKey>('POST', `${domains}/${domainId}/keys`);
    expect(status).toBe(201);
    return body;
  };
  const record = async (domainId: string, apiKey: string, origin?: string) =>
    (await stack.client.record(domainId, apiKey, { decision: 'reject_all' }, origin ? { origin } : {})).status;
  const acts = async (query = '', of = stack.tenant) =>
    (await askAs(of)<ActsPage>('GET', `/v1/organization/acts?${query}`)).body;
  /** Without those of reads, which are written up to a minute later. */
  const newestActs = async (count: number) =>
    (await acts('limit=200')).acts.filter(({ act }) => act !== 'log.read').slice(0, count);

  it('makes, lists, renames and shows its domains', async () => {
    const first = await make('first.example');
    expect(first).toEqual({
      domainId: expect.stringMatching(/^dom_\w{20}$/),
      name: 'first.example',
      origins: [],
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      archivedAt: null,
      validMonths: null,
      policyVersion: null,
    });
    const second = await make('second.example', ['https://second.example', 'https://*.second.example:8443']);
    const listed = await ask<DomainsPage>('GET', `${domains}?limit=1`);
    expect(listed.body).toEqual({ domains: [{ ...second, activeKeys: 0 }], nextCursor: expect.any(String) });
    const next = await ask<DomainsPage>('GET', `${domains}?limit=1&cursor=${listed.body.nextCursor}`);
    expect(next.body.domains).toEqual([{ ...first, activeKeys: 0 }]);
    const path = `${domains}/${first.domainId}`;
    const renamed = { ...first, name: '🏔 Bergläden', origins: ['https://berg.example'] };
    const { name, origins } = renamed;
    expect((await ask('PATCH', path, { body: { name, origins } })).body).toEqual(renamed);
    expect((await ask('GET', path)).body).toEqual({ ...renamed, refusedOrigins: [], ignoredFields: [] });
    const { body: shown } = await stack.client.organization();
    const plan = { name: expect.stringMatching(/^plan-/), consentLog: true, monthlyRecordLimit: null };
    expect(shown).toMatchObject({ name: expect.stringMatching(/^Organization /), plan, scopes: ['read'] });
    expect(shown.domains).toContainEqual({ domainId: first.domainId, name });
    // what changes nothing is no act
    expect((await ask('PATCH', path, { body: { name } })).status).toBe(200);
    expect(await newestActs(3)).toMatchObject([
      { actor: 'mara', act: 'domain.update', subject: first.domainId, details: { name, origins } },
      { actor: 'mara', act: 'domain.create', subject: second.domainId },
      { actor: 'mara', act: 'domain.create', subject: first.domainId, details: { name: 'first.example' } },
    ]);
  });

  it.each<[string, unknown, string]>([
    ['no name', {}, '/name'],
    ['an empty name', { name: ' ' }, '/name'],
    ['a long name', { name: 'x'.repeat(201) }, '/name'],
    ['a name that is no text', { name: 1 }, '/name'],
    ['a name with a control character', { name: 'a\u0007b' }, '/name'],
    ['a name that turns its direction', { name: 'shop\u202eelpmaxe' }, '/name'],
    ['half a surrogate pair', { name: 'a\ud800' }, '/name'],
    ['an id of its own', { name: 'a', domainId: 'mine' }, '/domainId'],
    ['origins that are no list', { name: 'a', origins: 'https://a.example' }, '/origins'],
    ['101 origins', { name: 'a', origins: Array.from({ length: 101 }, (_, n) => `https://a${n}.example`) }, '/origins'],
    ['one twice', { name: 'a', origins: ['https://a.example', 'https://a.example'] }, '/origins'],
    ...[
      ...['null', '*', 'a.example', 'https://a.example/', 'https://a.example/shop', 'https://A.example', ''],
      ...['https://a.example:443', 'https://bücher.example', 'https://*.com', 'https://a.*.example', 'https://*'],
      ...['https://a*.example.com', 'https://user@a.example', 'ftp://a.example', 'https://a.example:99999'],
      ...['javascript', 'data', 'blob', 'file', 'about'].map((scheme) => `${scheme}://localhost`),
      ...['capacitor://localhost/', 'Capacitor://localhost', 'capacitor://*.example.com', 'app://', 'wss://a.example'],
    ].map((origin): [string, unknown, string] => [
      `the origin ${JSON.stringify(origin)}`,
      { name: 'a', origins: [origin] },
      '/origins/0',
    ]),
  ])('refuses a domain with %s', async (_, body, blamed) => {
    expectBlame(await ask('POST', domains, { body }), blamed);
  });

  it('takes names of 200 emoji, and origins with ports, with punycode and of apps', async () => {
    const ofApps = ['capacitor://localhost', 'tauri://localhost', 'com.example.shop://www.example.com'];
    const origins = ['http://localhost:8080', 'https://xn--bcher-kva.example', 'https://*.a.example:8443', ...ofApps];
    expect(await make('🍪'.repeat(200), origins)).toMatchObject({ name: '🍪'.repeat(200), origins });
  });

  it('of two people who change the same domain the second gets a 412', async () => {
    const { domainId } = await make('two.example');
    const path = `${domains}/${domainId}`;
    const { headers } = await ask('GET', path);
    const change = (name: string, tag: string | null) =>
      ask('PATCH', path, { body: { name, archivedAt: null }, headers: { 'if-match': tag ?? '' } });
    const tag = headers.get('etag');
    const one = await change('one', tag);
    expect([one.status, one.headers.get('etag') === tag]).toEqual([200, false]);
    expectProblem(await change('other', tag), 412, 'changed_meanwhile');
    expectProblem(await ask('DELETE', path, { headers: { 'if-match': tag ?? '' } }), 412, 'changed_meanwhile');
    expect((await change('other', one.headers.get('etag'))).body).toMatchObject({ name: 'other' });
    expect((await ask('DELETE', path, { headers: { 'if-match': '*' } })).status).toBe(200);
    // both at once: one of them wins
    const now = (await ask('GET', path)).headers.get('etag');
    const both = await Promise.all(['a', 'b'].map((name) => change(name, now)));
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 412]);
  });

  it('a change is in force once it was answered: origins, archiving, which leaves what is read, and restoring', async () => {
    const { domainId } = await make('changed.example');
    const path = `${domains}/${domainId}`;
    const { apiKey } = await makeKey(domainId);
    const [other, ...origins] = ['https://other.example', 'https://origins.example', 'capacitor://localhost'];
    const statuses = () => Promise.all([other, ...origins].map((origin) => record(domainId, apiKey, origin)));
    expect(await statuses()).toEqual([202, 202, 202]);
    await ask('PATCH', path, { body: { origins } });
    expect(await statuses()).toEqual([403, 202, 202]);
    const archived = (await ask<ManagedDomain>('DELETE', path)).body;
    expect(archived).toMatchObject({ domainId, archivedAt: expect.any(String) });
    expect(await statuses()).toEqual([401, 401, 401]);
    await eventually(async () => expect((await stack.client.records(domainId)).body.total).toBe(5));
    const { archivedAt } = archived;
    const listed = (await stack.client.organization()).body.domains;
    expect(listed).toContainEqual({ domainId, name: 'changed.example', archivedAt });
    expectProblem(await ask('POST', `${path}/keys`), 409, 'domain_archived');
    const imported = await request<ProblemAnswer>(stack.api.baseUrl, `/v1/consent/${domainId}/import`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tokenFor(stack.tenant.organizationId, { scope: 'import' })}`,
        'content-type': 'application/x-ndjson',
      },
      body: '{"decision":"custom","decidedAt":"2024-05-01T12:00:00.000Z"}\n',
    });
    expectProblem(imported, 409, 'domain_archived');
    expect((await ask<ManagedDomain>('DELETE', path)).body.archivedAt).toBe(archivedAt);
    expect((await ask('PATCH', path, { body: { archivedAt: null } })).body).toMatchObject({ archivedAt: null });
    const { body: keys } = await ask<KeysPage>('GET', `${path}/keys`);
    expect(keys.keys).toMatchObject([{ prefix: apiKey.slice(0, 11), revokedAt: expect.any(String) }]);
    const fresh = await makeKey(domainId);
    expect(await record(domainId, fresh.apiKey)).toBe(202);
    const done = ['key.create', 'domain.restore', 'domain.archive', 'domain.update', 'key.create', 'domain.create'];
    expect((await newestActs(6)).map(({ act }) => act)).toEqual(done);
    expectBlame(await ask('PATCH', path, { body: { archivedAt: '2026-01-01T00:00:00.000Z' } }), '/archivedAt');
  });

  it('makes keys, shown once, and revokes them', async () => {
    const { domainId } = await make('keys.example');
    const path = `${domains}/${domainId}/keys`;
    const [first, second] = [await makeKey(domainId), await makeKey(domainId)];
    const { apiKey, ...shown } = first;
    expect(apiKey).toMatch(/^ak_[\w-]{32}$/);
    const unused = { createdAt: expect.any(String), lastUsedAt: null, revokedAt: null, isOfPage: false };
    expect(shown).toEqual({ prefix: apiKey.slice(0, 11), ...unused });
    const listed = await ask<KeysPage>('GET', `${path}?limit=1`);
    expect(listed.body.keys.map(({ prefix }) => prefix)).toEqual([second.prefix]);
    const next = await ask<KeysPage>('GET', `${path}?limit=1&cursor=${listed.body.nextCursor}`);
    expect(next.body).toEqual({ keys: [shown], nextCursor: null });
    const statuses = () => Promise.all([first, second].map((each) => record(domainId, each.apiKey)));
    expect(await statuses()).toEqual([202, 202]);
    const revoked = await ask<Key>('DELETE', `${path}/${first.prefix}`);
    expect(revoked.body).toMatchObject({ prefix: first.prefix, revokedAt: expect.any(String) });
    expect(await statuses()).toEqual([401, 202]);
    const { body: all } = await ask<DomainsPage>('GET', `${domains}?limit=1`);
    expect(all.domains).toMatchObject([{ domainId, activeKeys: 1 }]);
    expect((await ask<Key>('DELETE', `${path}/${first.prefix}`)).body.revokedAt).toBe(revoked.body.revokedAt);
    for (const prefix of ['ak_xxxxxxxx', at(others.apiKeys, 0).slice(0, 11)])
      expectProblem(await ask('DELETE', `${path}/${prefix}`), 404, 'key_not_found');
    expectBlame(await ask('DELETE', `${path}/ak_x`), '/prefix');
    expect(await newestActs(2)).toMatchObject([
      { act: 'key.revoke', subject: first.prefix, details: { domainId } },
      { act: 'key.create', subject: second.prefix, details: { domainId } },
    ]);
    expect(JSON.stringify(await acts('limit=200'))).not.toContain(apiKey);
  });

  it('sees what was done, by whom, and nothing of others; pages leave nothing out', async () => {
    const own = await makeTenant(stack.db);
    const domainId = at(own.domainIds, 0);
    // by turns, within a millisecond, after those of its making
    const since = new Date(Date.now() + 60_000).toISOString();
    await stack.sql`
      insert into visitor_acts (at, organization_number, domain_number, actor, act)
      select ${since}::timestamptz + n * interval '20 microseconds', number, 0, 'dpo', 'visitor.access'
      from organizations, generate_series(1, 4) as n where id = ${own.organizationId}`;
    await stack.sql`
      insert into administrative_acts (at, actor, act, subject, organization_id, details)
      select ${since}::timestamptz + (20 * n + 10) * interval '1 microsecond', 'operator', 'domain.update',
        ${domainId}, ${own.organizationId}, jsonb_build_object('name', 'name ' || n)
      from generate_series(1, 4) as n`;
    const all = (await acts('limit=200', own)).acts;
    const turn = (n: number) => [
      { actor: 'operator', act: 'domain.update', subject: domainId, details: { name: `name ${n}` } },
      { actor: 'dpo', act: 'visitor.access' },
    ];
    expect(all.slice(0, 8)).toMatchObject([4, 3, 2, 1].flatMap(turn));
    expect(all.map(({ act }) => act)).toContain('org.create');
    expect(JSON.stringify(all)).not.toContain(others.organizationId);
    const paged: ActsPage['acts'] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: ActsPage = await acts(`limit=3${cursor && `&cursor=${cursor}`}`, own);
      paged.push(...page.acts);
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(all);
    expectBlame(await ask('GET', '/v1/organization/acts?cursor=x'), '/cursor');
  });

  it('makes no more than its quotas, however many ask at once, and as many changes a minute as it may', async () => {
    onTestFinished(holdTheMinute());
    const env = { ORG_MAX_DOMAINS: '3', DOMAIN_MAX_KEYS: '2', ORG_MAX_WEBHOOKS: '2', CHANGE_RATE_PER_MINUTE: '14' };
    const { baseUrl } = await startApi({ ...stack.env, ...env });
    const own = await makeTenant(stack.db);
    const askOwn = askAs(own, baseUrl);
    const expectQuota = async (limit: number, made: number, path: string, body?: object) => {
      const responses = await Promise.all(Array.from({ length: 4 }, () => askOwn('POST', path, { body })));
      const refused = responses.filter(({ status }) => status !== 201);
      expect(refused.length).toBe(4 - made);
      for (const response of refused) expectProblem(response, 409, 'quota_exceeded');
      for (const { body } of refused) expect(body).toMatchObject({ limit });
    };
    await expectQuota(3, 2, domains, { name: 'one.example' });
    await expectQuota(2, 1, `${domains}/${at(own.domainIds, 0)}/keys`);
    await expectQuota(2, 2, '/v1/organization/webhooks', {
      url: 'https://receiver.invalid/',
      types: ['limit.reached'],
    });
    // others and reads are not concerned
    const rename = (of: Tenant) =>
      askAs(of, baseUrl)('PATCH', `${domains}/${at(of.domainIds, 0)}`, { body: { name: 'new.example' } });
    const draft = `${domains}/${at(own.domainIds, 0)}/banner`;
    expect((await askOwn('PUT', draft, { body: {} })).status).toBe(200);
    for (const status of [200, 429]) expect((await rename(own)).status).toBe(status);
    // what is lost can still be revoked
    const keys = `${domains}/${at(own.domainIds, 0)}/keys`;
    const [key] = (await askOwn<KeysPage>('GET', keys)).body.keys;
    expect((await askOwn('DELETE', `${keys}/${key?.prefix}`)).status).toBe(200);
    expect((await askOwn('POST', '/v1/organization/tokens/revoke', { body: { jti: 'lost' } })).status).toBe(200);
    expect((await rename(others)).status).toBe(200);
    expect((await askOwn('GET', domains)).status).toBe(200);
  });

  it('revokes one access token, by its jti; the operator revokes all that were issued before', async () => {
    const own = await makeTenant(stack.db);
    const tokenOf = (jti: string, claims: object = {}) => tokenFor(own.organizationId, { jti, ...claims });
    const read = async (...tokens: string[]) => {
      const asked = tokens.map((token) =>
        request(stack.api.baseUrl, '/v1/organization', { headers: { authorization: `Bearer ${token}` } }),
      );
      return (await Promise.all(asked)).map(({ status }) => status);
    };
    const [lost, kept] = [tokenOf('lost'), tokenOf('kept')];
    const revoke = (jti: string) => askAs(own)('POST', '/v1/organization/tokens/revoke', { body: { jti } });
    expect(await read(lost, kept)).toEqual([200, 200]);
    for (let times = 0; times < 2; times += 1) {
      const { status, body } = await revoke('lost');
      expect([status, body]).toEqual([200, { jti: 'lost', revokedAt: expect.any(String) }]);
    }
    expect(await read(lost, kept)).toEqual([401, 200]);
    expectBlame(await revoke(''), '/jti');
    const { tokensSince } = await createAdministration(stack.db, 'operator').revokeTokens(own.organizationId);
    const after = tokenOf('kept', { iat: Date.parse(tokensSince) / 1000 });
    // in a process that has to hear of it
    await eventually(async () => expect(await read(kept, after)).toEqual([401, 200]));
  });
});
