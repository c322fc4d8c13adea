/** Who read the log: acts that are written apart from the requests. */
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import type { Context } from '#libs/base/http/context';
import { dayOf } from '#libs/base/terms/calendar';
import type { RecordsPage } from '#libs/log/contract';
import type { ActsPage } from '#libs/tenants/contract';
import { createLogReads } from '#libs/tenants/log-reads';
import { createTenantMetrics } from '#libs/tenants/metrics';
import { createAsk, createClient, tokenFor } from '../support/client.ts';
import { openPool } from '../support/pool.ts';
import { expectBlame } from '../support/problems.ts';
import { recordAt } from '../support/records.ts';
import { startApi } from '../support/service.ts';
import { privacyKey } from '../support/settings.ts';
import { at, storeRecords, useStack } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const stack = await useStack({ tenant: { domains: 2 } });
const { organizationId, domainIds } = stack.tenant;
const [domainId, second] = [at(domainIds, 0), at(domainIds, 1)];
await storeRecords(
  stack,
  Array.from({ length: 5 }, (_, each) => recordAt(Date.now() - each * 1_000, { domainId, visitorId: 'v-1' })),
);

const iat = Math.floor(Date.now() / 1_000);
/** midnight may pass before the acts are looked for */
const firstDay = dayOf(Date.now());
const askAs = (base: string, scope: string, sub: string) =>
  createAsk(base, organizationId, { scope, sub, iat, exp: iat + 3_600 });
const acts = (query: string, scope = 'privacy') =>
  askAs(stack.api.baseUrl, scope, 'officer')<ActsPage>('GET', `/v1/organization/acts?${query}`);

it('what a token reads of the log are acts of a kind, with the sum, and no request waits for it', async () => {
  const api = await startApi({ ...stack.env, PRIVACY_KEY: privacyKey });
  const read = (path: string, sub = 'reader') =>
    askAs(api.baseUrl, 'read', sub)<RecordsPage>('GET', `/v1/consent/${path}`);
  for (let times = 0; times < 3; times += 1) await read(`${domainId}/records?limit=2`);
  const { body } = await read(`${domainId}/records?visitorId=v-1`, 'other');
  await read(`${domainId}/records/${body.records[0]?.id}`);
  await read('org-stats');
  // shows nobody's
  await read(`${second}/records`);
  const short = await makeTenant(stack.db, { consentLog: false });
  await storeRecords(stack, [recordAt(Date.now(), { domainId: at(short.domainIds, 0) })]);
  const shortened = await createClient(api.baseUrl, short).orgStats();
  expect(shortened.body.records).toHaveLength(1);
  await api.stop();
  const { body: found } = await acts('act=log.read');
  // the round in between may have written some of them already
  const sums: Record<string, number> = {};
  for (const { actor, subject, details } of found.acts) {
    const kind = `${actor} ${subject} ${details.what}`;
    sums[kind] = (sums[kind] ?? 0) + Number(details.records);
  }
  expect(sums).toEqual({
    [`reader ${domainId} records`]: 6,
    [`reader ${domainId} record`]: 1,
    [`reader ${organizationId} org-stats`]: 5,
    [`other ${domainId} records`]: 5,
  });
  const ofShort = await stack.sql`
    select from visitor_acts join organizations on number = organization_number
    where organizations.id = ${short.organizationId}`;
  expect(ofShort.count).toBe(0);
});

it('acts are filtered, and found by the visitor', async () => {
  expect((await acts(`act=log.read&actor=other&from=${firstDay}`, 'manage')).body.acts).toHaveLength(1);
  expect((await acts(`act=log.read&to=2020-01-01`)).body.acts).toEqual([]);
  expect((await acts('actor=nobody')).body).toEqual({ acts: [], nextCursor: null });
  const export_ = `${stack.api.baseUrl}/v1/consent/${domainId}/export`;
  const headers = { authorization: `Bearer ${tokenFor(organizationId, { scope: 'read' })}` };
  await (await fetch(export_, { headers })).text();
  const namesOf = async (query: string) => (await acts(`limit=200&${query}`)).body.acts.map(({ act }) => act);
  const all = await namesOf('');
  const isRead = (act: string) => ['log.read', 'visitor.read'].includes(act);
  expect(await namesOf('kind=reads')).toEqual(all.filter(isRead));
  expect(await namesOf('kind=changes')).toEqual(all.filter((act) => !isRead(act)));
  expect(new Set(all)).toEqual(
    new Set(['log.read', 'visitor.read', 'records.export', 'key.create', 'org.create', 'domain.create']),
  );
  expectBlame(await acts('from=2026-01-02&to=2026-01-01'), '/from');
  const { nextCursor } = (await acts('act=log.read&limit=1')).body;
  expect((await acts(`act=log.read&limit=1&cursor=${nextCursor}`)).body.acts).toHaveLength(1);
  expectBlame(await acts(`limit=1&cursor=${nextCursor}`), '/cursor');
  const lookup = (visitorId: string) =>
    askAs(stack.api.baseUrl, 'privacy', 'officer')<ActsPage>('POST', '/v1/organization/acts/lookup', {
      body: { visitorId },
    });
  expect((await lookup('v-1')).body.acts).toMatchObject([{ act: 'visitor.read', actor: 'other' }]);
  expect((await lookup('nobody')).body).toEqual({ acts: [], nextCursor: null });
});

/** Of a request with a token of that subject. */
const contextOf = (organizationId: string, subject: string): Context => {
  const access = { subject, countedAs: `${organizationId} ${subject}` };
  return { state: { organization: { organizationId }, access } } as unknown as Context;
};

it('a token that reads a page a second for a day leaves one act a write, with the sum', async () => {
  const reads = createLogReads({ db: stack.db, log: { warn: () => {} }, metrics: createTenantMetrics(new Registry()) });
  const ctx = contextOf(organizationId, 'tireless');
  for (let second = 0; second < 86_400; second += 1) reads.note(ctx, { what: 'records', records: 50, domainId });
  await reads.close();
  expect((await acts('actor=tireless')).body.acts.map(({ details }) => details)).toEqual([
    { what: 'records', records: 4_320_000 },
  ]);
});

it('acts that Postgres does not take are counted and logged beyond the share of each organization, and tried once a minute', async () => {
  const db = openPool('postgres://127.0.0.1:1/none', { max: 1, deadline: 1_000 });
  let tries = 0;
  const write: typeof db.write = (...given) => {
    tries += 1;
    return db.write(...given);
  };
  const lost: unknown[] = [];
  const metrics = createTenantMetrics(new Registry());
  const reads = createLogReads({
    db: { ...db, write },
    log: { warn: (details: { acts?: number }) => void lost.push(details.acts ?? 0) },
    metrics,
  });
  const note = (organizationId: string, sub: string) =>
    reads.note(contextOf(organizationId, sub), { what: 'records', records: 1, domainId });
  const count = async () => (await metrics.logReadsLost.get()).values[0]?.value;
  for (let sub = 0; sub < 20_500; sub += 1) note('greedy', `${sub}`);
  await eventually(async () => expect(await count()).toBe(15_500));
  for (const organizationId of ['b', 'c']) for (let sub = 0; sub < 5_000; sub += 1) note(organizationId, `${sub}`);
  const before = tries;
  // each of these fails as late as a write would
  for (let again = 0; again < 5; again += 1) {
    note('b', '1');
    await expect(db.write((sql) => sql`select 1`)).rejects.toThrow();
  }
  // that of the minute
  expect(tries - before).toBeLessThanOrEqual(1);
  // one more organization has room
  for (let sub = 0; sub < 6_000; sub += 1) note('d', `${sub}`);
  await reads.close();
  expect(await count()).toBe(15_500 + 20_000 + 1_000);
  expect(lost.reduce((sum: number, acts) => sum + Number(acts), 0)).toBe(36_500);
});
