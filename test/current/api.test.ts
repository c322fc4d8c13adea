import { describe, expect, it } from 'vitest';
import { makeIdAt } from '#libs/base/terms/calendar';
import type { CurrentOfMany, CurrentOfOne } from '#libs/current/contract';
import type { NewRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { createPublisher } from '../support/banner.ts';
import { createAsk, type ProblemAnswer } from '../support/client.ts';
import { holdTheMinute } from '../support/clock.ts';
import { sampleOf } from '../support/metrics.ts';
import { expectBlame, expectProblem } from '../support/problems.ts';
import { recordAt } from '../support/records.ts';
import { startApi } from '../support/service.ts';
import { startStack } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const stack = await startStack({ sealed: true, tenant: { domains: 2, consentLog: false } });
const { organizationId } = stack.tenant;
const [domainId = '', other = ''] = stack.tenant.domainIds;
const scope = 'current';
const ask = createAsk(stack.api.baseUrl, organizationId, { scope });
const path = (domain = domainId) => `/v1/consent/${domain}/current`;
const look = (visitorIds: unknown, domain?: string) =>
  ask<CurrentOfMany>('POST', path(domain), { body: { visitorIds } });
const get = (visitorId: string) => ask<CurrentOfOne>('GET', `${path()}/${encodeURIComponent(visitorId)}`);
const store = (...records: (Partial<NewRecord> & { at?: number })[]) =>
  persist(
    stack.db,
    records.map(({ at = Date.now(), ...fields }) => recordAt(at, { domainId, ...fields })),
    { owe: true },
  );
const none = { recordId: null, decision: null, preferences: {}, others: false, valid: false, reason: 'none' };

describe('what a visitor allows now', () => {
  it('is the newest decision, of one visitor or of many, in the order of their ids', async () => {
    const id = makeIdAt(Date.now());
    const preferences = { necessary: true, analytics: true, marketing: false };
    await store({ id, visitorId: 'one', decision: 'custom', preferences, model: 'opt_in', policyVersion: '7' });
    const held = {
      domainId,
      visitorId: 'one',
      recordId: id,
      decision: 'custom',
      preferences,
      others: false,
      decidedAt: new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toISOString(),
      source: 'banner',
      policyVersion: '7',
      model: 'opt_in',
      validUntil: null,
      valid: true,
      reason: null,
    };
    const one = await get('one');
    expect(one).toMatchObject({ status: 200, body: { ...held, asOf: expect.any(String) } });
    expect(one.headers.get('cache-control')).toBe('no-store');
    const { body } = await look(['nobody', 'one', 'one']);
    expect(body.current).toEqual([expect.objectContaining({ visitorId: 'nobody', ...none }), held, held]);
    // of this domain alone
    expect((await look(['one'], other)).body.current).toMatchObject([none]);
  });

  it('includes everything acknowledged before `asOf`, without an administrative act', async () => {
    const recorded = await stack.client.record(domainId, stack.apiKey, { decision: 'accept_all', visitorId: 'new' });
    expect(recorded.status).toBe(202);
    const acknowledged = Date.now();
    await eventually(async () => {
      const { body } = await get('new');
      expect(Date.parse(body.asOf ?? '')).toBeGreaterThan(acknowledged);
      expect(body).toMatchObject({ recordId: recorded.body.id, valid: true, others: true });
    });
    expect(await stack.sql`select from visitor_acts`).toHaveLength(0);
  });

  it('is nothing for 32 days after an erasure, also where the visitor comes again', async () => {
    await store({ visitorId: 'gone' }, { visitorId: 'stays' });
    const officer = createAsk(stack.api.baseUrl, organizationId, { scope: 'privacy' });
    expect((await officer('DELETE', `/v1/consent/${domainId}/visitors/gone`)).status).toBe(200);
    await store({ visitorId: 'gone', at: Date.now() + 1_000 });
    const { body } = await look(['gone', 'stays']);
    expect(body.current).toMatchObject([none, { valid: true }]);
  });

  it('goes by the terms of the published banner from its publication on', async () => {
    const { publish } = createPublisher({ api: stack.api, tenant: stack.tenant, domainId: other });
    const manager = createAsk(stack.api.baseUrl, organizationId, { scope: 'manage' });
    const terms = `/v1/organization/domains/${other}`;
    const changed = await manager('PATCH', terms, { body: { validMonths: 3, policyVersion: 'a' } });
    expect(changed.body).toMatchObject({ validMonths: 3, policyVersion: 'a' });
    await store({ visitorId: 'v', domainId: other, policyVersion: 'b', at: Date.now() - 1 });
    expect((await look(['v'], other)).body.current).toMatchObject([{ reason: 'policy_changed', valid: false }]);
    await publish({ policyVersion: 'b' });
    expect((await manager('GET', terms)).body).toMatchObject({ validMonths: 12, policyVersion: 'b' });
    expect((await look(['v'], other)).body.current).toMatchObject([{ reason: null, valid: true }]);
    for (const body of [{ validMonths: 12 }, { policyVersion: null }])
      expectProblem(await manager<ProblemAnswer>('PATCH', terms, { body }), 409, 'published');
    expect((await manager('PATCH', terms, { body: { name: 'renamed' } })).status).toBe(200);
  });

  it('is readable for archived domains, but not for those of others or unknown ones', async () => {
    const { organizationId: theirs, domainIds } = await makeTenant(stack.db);
    const [archived = ''] = domainIds;
    const manager = createAsk(stack.api.baseUrl, theirs, { scope: 'manage current' });
    expect((await manager('DELETE', `/v1/organization/domains/${archived}`)).status).toBe(200);
    const read = await manager<CurrentOfOne>('GET', `${path(archived)}/v`);
    expect(read).toMatchObject({ status: 200, body: none });
    for (const domain of [archived, 'dom_gone']) expectProblem(await look(['v'], domain), 404, 'domain_not_found');
  });
});

describe('a request for it', () => {
  const ids = (count: number) => Array.from({ length: count }, (_, at) => `v-${at}`);

  it('has 1 to 200 ids, of what a record may have as an id', async () => {
    const odd = ['a/b', '..', '😀'.repeat(64), 'é'.repeat(128), '%00', '%', 'a b', '"\\{},'];
    await store(...odd.map((visitorId) => ({ visitorId })));
    expect((await look(odd)).body.current).toMatchObject(odd.map((visitorId) => ({ visitorId, valid: true })));
    for (const visitorId of odd.filter((each) => each !== '..'))
      expect((await get(visitorId)).body).toMatchObject({ visitorId, valid: true });
    expect((await look(Array(200).fill('same'))).body.current).toHaveLength(200);
    for (const visitorIds of [[], ids(201), undefined, 'v']) expectBlame(await look(visitorIds), '/visitorIds');
    for (const wrong of ['', 'v'.repeat(129), 'v'.repeat(10_000), '\0', 7])
      expectBlame(await look(['v', wrong]), '/visitorIds/1');
    for (const wrong of ['%00', '%ff', 'v'.repeat(129)])
      expectBlame(await ask<ProblemAnswer>('GET', `${path()}/${wrong}`), '/visitorId');
  });

  it('counts its ids towards a limit of its own, and no read', async () => {
    holdTheMinute();
    const api = await startApi({ ...stack.env, CURRENT_RATE_PER_MINUTE: '250', READ_RATE_PER_MINUTE: '1' });
    const asked = createAsk(api.baseUrl, organizationId, { scope, iat: 1_700_000_000, exp: 4_000_000_000 });
    const send = (count: number) => asked<ProblemAnswer>('POST', path(), { body: { visitorIds: ids(count) } });
    expect((await send(200)).headers.get('ratelimit')).toContain('"current";r=50');
    expect((await asked('GET', `${path()}/v`)).status).toBe(200);
    expectProblem(await send(50), 429, 'rate_limited');
    expect(await sampleOf(api.opsUrl, 'assent_current_lookups_total{result="none"}')).toBe(201);
  });
});
