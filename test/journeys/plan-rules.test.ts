import { beforeAll, describe, expect, it } from 'vitest';
import { addMonths, dayOf, firstDay, monthOf, startOf } from '#libs/base/terms/calendar';
import type { RecordsPage } from '#libs/log/contract';
import { persist } from '#libs/record/persist/persist';
import { createAdministration } from '#libs/tenants/administration';
import { expectBlame, expectProblem } from '../support/problems.ts';
import { recordAt } from '../support/records.ts';
import { at, startStack, storeRecords, useStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const limit = 12;
const now = Date.now();
const month = monthOf(now);
const resetsAt = `${firstDay(addMonths(month, 1))}T00:00:00.000Z`;

const stack = await useStack({ tenant: { domains: 2, monthlyRecordLimit: limit } });
const admin = createAdministration(stack.db, 'test');
const other = at(stack.tenant.domainIds, 1);
const plan = (await stack.client.organization()).body.plan.name;
const { domainId } = stack;
const lastMonth = startOf(firstDay(month)) - 1;
await persist(
  stack.db,
  [
    // one short of the limit, over both domains
    ...Array.from({ length: limit - 2 }, (_, index) => recordAt(now + index, { domainId, visitorId: `v-${index}` })),
    recordAt(now, { domainId: other }),
    // what is of another month does not count
    ...Array.from({ length: 5 }, (_, index) => recordAt(lastMonth - index, { domainId, decision: 'withdraw' })),
  ],
  { owe: true },
);

describe(`a plan with ${limit} records a month`, () => {
  const inMonth = limit - 2;
  const ofDomain = inMonth + 5;
  const read = async (query = '') => (await stack.client.records(stack.domainId, query)).body;
  // a crawler's record does not count
  const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0' };
  const record = (domain: number) => {
    const [domainId, apiKey] = [at(stack.tenant.domainIds, domain), at(stack.tenant.apiKeys, domain)];
    return stack.client.record(domainId, apiKey, { decision: 'custom' }, browser);
  };
  const untilCapped = (capped: boolean) => eventually(async () => expect((await read()).capped).toBe(capped));
  const expectShort = async () => {
    const { status, body } = await stack.client.orgStats();
    expect([status, body.records.length >= limit]).toEqual([200, true]);
    for (const each of body.records) expect(Object.keys(each)).toEqual(['id', 'domainId', 'decision', 'decidedAt']);
  };

  it('is not reached with one record less: the whole log can be read', async () => {
    // Redis may have been read before the records were there
    await eventually(async () => {
      const { usage } = (await stack.client.organization()).body;
      expect(usage).toEqual({ month, used: limit - 1, bots: 0, limit });
    });
    const body = await read('limit=200');
    expect(body).toMatchObject({ capped: false, total: ofDomain, totalPages: 1 });
    expect(body).not.toHaveProperty('cap');
    expect(body.records).toHaveLength(ofDomain);
    expect((await stack.client.orgStats()).body.records[0]).toHaveProperty('visitorId');
  });

  describe('is reached with the last one, on whichever domain', () => {
    let cursor: string;
    let newest: RecordsPage['records'];
    const cap = { reason: 'monthly_record_limit', limit, used: limit, resetsAt };

    beforeAll(async () => {
      cursor = (await read('limit=5')).nextCursor ?? '';
      newest = (await read('limit=10')).records;
      expect((await record(1)).status).toBe(202);
      await untilCapped(true);
    });

    it.each<[string, () => string, number]>([
      ['a later page', () => 'page=2&limit=200', 10],
      ['a cursor from before', () => `cursor=${cursor}&limit=3`, 3],
      ['a decision', () => 'decision=withdraw', 10],
      ['days', () => `from=2000-01-01&to=${dayOf(lastMonth)}`, 10],
      ['a visitor', () => 'visitorId=v-0', 10],
    ])('%s: the first page, of the newest alone', async (_, query, size) => {
      const short = { domainId: stack.domainId, page: 1, limit: size, total: ofDomain, totalPages: 1, capped: true };
      const records = newest.slice(0, size);
      expect(await read(query())).toEqual({ ...short, cap, nextCursor: null, records });
    });

    it('a domain with less than a page shows all it has, and what breaks a rule is refused', async () => {
      const { body } = await stack.client.records(other);
      expect(body).toMatchObject({ capped: true, total: 2, totalPages: 1, limit: 10, cap });
      expect(body.records).toHaveLength(2);
      expectBlame(await stack.client.records(stack.domainId, `cursor=${cursor}x`), '/cursor');
    });

    it("the organization's records are short, its counts whole; recording goes on, and the cap tells how far", async () => {
      await expectShort();
      const stats = await stack.client.stats(stack.domainId, `from=${firstDay(month)}&to=${dayOf(now)}`);
      expect(stats.body.total).toBe(inMonth);
      expect((await record(0)).status).toBe(202);
      await eventually(async () => {
        const body = await read();
        expect(body).toMatchObject({ total: ofDomain + 1, cap: { limit, used: limit + 1 } });
        expect(body.records[0]?.decision).toBe('custom');
      });
    });

    it('a raised limit, and none, open the log; a lowered one closes it', async () => {
      for (const [monthlyRecordLimit, capped] of [
        [limit + 2, false],
        [0, true],
        [null, false],
      ] as const) {
        await admin.setPlan(plan, { monthlyRecordLimit });
        await untilCapped(capped);
      }
      expect((await stack.client.organization()).body.usage.limit).toBeNull();
    });
  });

  it('a plan without the consent log refuses it, shortens the records of all domains, and recording goes on', async () => {
    const noLog = `${plan}-without-log`;
    // a limit that is reached would shorten the records by itself
    await admin.setPlan(noLog, { consentLog: false, monthlyRecordLimit: null });
    await admin.setOrganizationPlan(stack.tenant.organizationId, noLog);
    await eventually(async () =>
      expectProblem(await stack.client.records(stack.domainId), 403, 'plan_feature_required'),
    );
    await expectShort();
    expect((await record(0)).status).toBe(202);
  });
});

it("crawlers' records do not count, although no epoch has been closed since", async () => {
  const own = await startStack({ worker: false, tenant: { domains: 2, monthlyRecordLimit: 3 } });
  const crawler = (index: number) =>
    recordAt(now + index, { domainId: at(own.tenant.domainIds, index % 2), decision: 'custom', bot: true });
  await storeRecords(own, [
    recordAt(now, { domainId: own.domainId }),
    ...Array.from({ length: 4 }, (_, n) => crawler(n)),
  ]);
  const usage = async () => (await own.client.organization()).body.usage;
  await eventually(async () => expect(await usage()).toEqual({ month, used: 1, bots: 4, limit: 3 }));
  expect((await own.client.records(own.domainId)).body).toMatchObject({ capped: false, total: 3 });
  await storeRecords(
    own,
    [1, 2].map((each) => recordAt(now - each, { domainId: own.domainId })),
  );
  expect((await own.client.records(own.domainId)).body).toMatchObject({ capped: true, cap: { used: 3 } });
  await eventually(async () => expect(await usage()).toMatchObject({ used: 3, bots: 4 }));
});
