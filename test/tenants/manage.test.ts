/** An organization that manages itself over HTTP: domains, keys, and who did what. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { monthOf } from '#libs/base/terms/calendar';
import { createAdministration } from '#libs/tenants/administration';
import type { ActsPage, DomainsPage, Key, KeysPage, MadeKey, ManagedDomain } from '#libs/tenants/contract';
import { type Answer, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
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
  const ask = <Body = ProblemAnswer>(
    method: string,
    path: string,
    {
      body,
      headers = {},
      of = stack.tenant,
      base = stack.api.baseUrl,
    }: { body?: unknown; headers?: Record<string, string>; of?: Tenant; base?: string } = {},
  ): Promise<Answer<Body & ProblemAnswer>> =>
    request(base, path, {
      method,
      headers: {
        authorization: `Bearer ${tokenFor(of.organizationId, { scope: 'manage', sub: 'mara' })}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
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
    (await ask<ActsPage>('GET', `/v1/organization/acts?${query}`, { of })).body;
  /** Without those of reads, which are written up to a minute later. */
  const newestActs = async (count: number) =>
    (await acts('limit=200')).acts.filter(({ act }) => act !== 'log.read').slice(0, count);

  it('is shown with its plan, its usage and its domains', async () => {
    const { client, tenant } = await useStack({ tenant: { domains: 2, monthlyRecordLimit: 100 } });
    const before = monthOf(Date.now());
    const { body } = await client.organization();
    const { month } = body.usage;
    // one may begin just now
    expect([before, monthOf(Date.now())]).toContain(month);
    expect(body).toEqual({
      organizationId: tenant.organizationId,
      name: expect.stringMatching(/^Organization /),
      plan: { name: expect.stringMatching(/^plan-/), consentLog: true, monthlyRecordLimit: 100 },
      usage: { month, used: 0, bots: 0, limit: 100 },
      domains: tenant.domainIds.map((domainId, index) => ({ domainId, name: `site-${index}.example` })),
      scopes: ['read'],
    });
  });

  it('makes, lists, renames and shows its domains', async () => {
    const first = await make('first.example');
    expect(first).toEqual({
      domainId: expect.stringMatching(/^dom_\w{20}$/),
      name: 'first.example',
      origins: [],
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      archivedAt: null,
    });
    const second = await make('second.example', ['https://second.example', 'https://*.second.example:8443']);
    const listed = await ask<DomainsPage>('GET', `${domains}?limit=1`);
    expect(listed.body).toEqual({ domains: [second], nextCursor: expect.any(String) });
    const next = await ask<DomainsPage>('GET', `${domains}?limit=1&cursor=${listed.body.nextCursor}`);
    expect(next.body.domains).toEqual([first]);
    const path = `${domains}/${first.domainId}`;
    const renamed = { ...first, name: '🏔 Bergläden', origins: ['https://berg.example'] };
    const { name, origins } = renamed;
    expect((await ask('PATCH', path, { body: { name, origins } })).body).toEqual(renamed);
    expect((await ask('GET', path)).body).toEqual({ ...renamed, refusedOrigins: [], ignoredFields: [] });
    expect((await stack.client.organization()).body.domains).toContainEqual({ domainId: first.domainId, name });
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

  it('of two people who change the same domain the second is told', async () => {
    const { domainId } = await make('two.example');
    const path = `${domains}/${domainId}`;
    const { headers } = await ask('GET', path);
    const tag = { 'if-match': headers.get('etag') ?? '' };
    const one = await ask('PATCH', path, { body: { name: 'one' }, headers: tag });
    expect([one.status, one.headers.get('etag') === tag['if-match']]).toEqual([200, false]);
    expectProblem(await ask('PATCH', path, { body: { name: 'other' }, headers: tag }), 412, 'changed_meanwhile');
    expectProblem(await ask('DELETE', path, { headers: tag }), 412, 'changed_meanwhile');
    const newest = { 'if-match': one.headers.get('etag') ?? '' };
    expect((await ask('PATCH', path, { body: { name: 'other' }, headers: newest })).body).toMatchObject({
      name: 'other',
    });
    expect((await ask('DELETE', path, { headers: { 'if-match': '*' } })).status).toBe(200);
    // both at once: one of them wins
    const { headers: now } = await ask('GET', path);
    const both = await Promise.all(
      ['a', 'b'].map((name) =>
        ask('PATCH', path, { body: { name, archivedAt: null }, headers: { 'if-match': now.get('etag') ?? '' } }),
      ),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 412]);
  });

  it('a change is in force once it was answered', async () => {
    const { domainId } = await make('origins.example');
    expect((await stack.client.stats(domainId, 'from=2026-01-01&to=2026-01-02')).status).toBe(200);
    const { apiKey } = await makeKey(domainId);
    const [other, ...origins] = ['https://other.example', 'https://origins.example', 'capacitor://localhost'];
    const statuses = () => Promise.all([other, ...origins].map((origin) => record(domainId, apiKey, origin)));
    expect(await statuses()).toEqual([202, 202, 202]);
    await ask('PATCH', `${domains}/${domainId}`, { body: { origins } });
    expect(await statuses()).toEqual([403, 202, 202]);
    await ask('DELETE', `${domains}/${domainId}`);
    expect(await statuses()).toEqual([401, 401, 401]);
  });

  it('an archived domain records nothing and can be read; restored, it takes new keys', async () => {
    const { domainId } = await make('archived.example');
    const path = `${domains}/${domainId}`;
    const { apiKey } = await makeKey(domainId);
    expect(await record(domainId, apiKey)).toBe(202);
    const archived = await ask<ManagedDomain>('DELETE', path);
    expect(archived.body).toMatchObject({ domainId, archivedAt: expect.any(String) });
    expect(await record(domainId, apiKey)).toBe(401);
    await eventually(async () => expect((await stack.client.records(domainId)).body.total).toBe(1));
    expect((await stack.client.organization()).body.domains).toContainEqual({
      domainId,
      name: 'archived.example',
      archivedAt: archived.body.archivedAt,
    });
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
    const twice = await ask<ManagedDomain>('DELETE', path);
    expect(twice.body.archivedAt).toBe(archived.body.archivedAt);
    const restored = await ask<ManagedDomain>('PATCH', path, { body: { archivedAt: null } });
    expect(restored.body.archivedAt).toBeNull();
    const { body: keys } = await ask<KeysPage>('GET', `${path}/keys`);
    expect(keys.keys).toMatchObject([{ prefix: apiKey.slice(0, 11), revokedAt: expect.any(String) }]);
    const fresh = await makeKey(domainId);
    expect(await record(domainId, fresh.apiKey)).toBe(202);
    expect((await newestActs(5)).map(({ act }) => act)).toEqual([
      'key.create',
      'domain.restore',
      'domain.archive',
      'key.create',
      'domain.create',
    ]);
    expectBlame(await ask('PATCH', path, { body: { archivedAt: '2026-01-01T00:00:00.000Z' } }), '/archivedAt');
  });

  it('makes keys, shown once, and revokes them', async () => {
    const { domainId } = await make('keys.example');
    const path = `${domains}/${domainId}/keys`;
    const [first, second] = [await makeKey(domainId), await makeKey(domainId)];
    const { apiKey, ...shown } = first;
    expect(apiKey).toMatch(/^ak_[\w-]{32}$/);
    expect(shown).toEqual({
      prefix: apiKey.slice(0, 11),
      createdAt: expect.any(String),
      lastUsedAt: null,
      revokedAt: null,
    });
    const listed = await ask<KeysPage>('GET', `${path}?limit=1`);
    expect(listed.body.keys.map(({ prefix }) => prefix)).toEqual([second.prefix]);
    const next = await ask<KeysPage>('GET', `${path}?limit=1&cursor=${listed.body.nextCursor}`);
    expect(next.body).toEqual({ keys: [shown], nextCursor: null });
    const statuses = () => Promise.all([first, second].map((each) => record(domainId, each.apiKey)));
    expect(await statuses()).toEqual([202, 202]);
    const revoked = await ask<Key>('DELETE', `${path}/${first.prefix}`);
    expect(revoked.body).toMatchObject({ prefix: first.prefix, revokedAt: expect.any(String) });
    expect(await statuses()).toEqual([401, 202]);
    const again = await ask<Key>('DELETE', `${path}/${first.prefix}`);
    expect(again.body.revokedAt).toBe(revoked.body.revokedAt);
    expectProblem(await ask('DELETE', `${path}/ak_xxxxxxxx`), 404, 'key_not_found');
    expectBlame(await ask('DELETE', `${path}/ak_x`), '/prefix');
    const theirs = at(others.apiKeys, 0).slice(0, 11);
    expectProblem(await ask('DELETE', `${path}/${theirs}`), 404, 'key_not_found');
    const [create, ...rest] = (await newestActs(2)).toReversed();
    expect(create).toMatchObject({ act: 'key.create', subject: second.prefix, details: { domainId } });
    expect(rest[0]).toMatchObject({ act: 'key.revoke', subject: first.prefix, details: { domainId } });
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
    const post = (path: string, body?: object) => ask('POST', path, { of: own, base: baseUrl, ...(body && { body }) });
    const expectQuota = async (limit: number, made: number, path: string, body?: object) => {
      const answers = await Promise.all(Array.from({ length: 4 }, () => post(path, body)));
      const refused = answers.filter(({ status }) => status !== 201);
      expect(refused.length).toBe(4 - made);
      for (const answer of refused) expectProblem(answer, 409, 'quota_exceeded');
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
      ask('PATCH', `${domains}/${at(of.domainIds, 0)}`, { of, base: baseUrl, body: { name: 'new.example' } });
    for (const status of [200, 200, 429]) expect((await rename(own)).status).toBe(status);
    // what is lost can still be revoked
    const [key] = (await ask<KeysPage>('GET', `${domains}/${at(own.domainIds, 0)}/keys`, { of: own, base: baseUrl }))
      .body.keys;
    const revokedKey = `${domains}/${at(own.domainIds, 0)}/keys/${key?.prefix}`;
    expect((await ask('DELETE', revokedKey, { of: own, base: baseUrl })).status).toBe(200);
    expect((await post('/v1/organization/tokens/revoke', { jti: 'lost' })).status).toBe(200);
    expect((await rename(others)).status).toBe(200);
    expect((await ask('GET', domains, { of: own, base: baseUrl })).status).toBe(200);
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
    const revoke = (jti: string) => ask('POST', '/v1/organization/tokens/revoke', { of: own, body: { jti } });
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
