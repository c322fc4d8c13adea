import { beforeAll, describe, expect, it } from 'vitest';
import { addMonths, dayOf, firstDay, monthOf, startOf } from '#libs/contract/calendar';
import type { RecordsPage } from '#libs/contract/responses';
import { persist } from '#libs/store/records/persist';
import { expectBlame, expectProblem } from '../support/problems.ts';
import { recordAt } from '../support/records.ts';
import { runCli } from '../support/run-cli.ts';
import { at, type Stack, useStack } from '../support/stack.ts';
import { eventually, withinASecond } from '../support/wait.ts';

const limit = 12;
const now = Date.now();
const month = monthOf(now);
const resetsAt = `${firstDay(addMonths(month, 1))}T00:00:00.000Z`;

describe(`a plan with ${limit} records a month`, () => {
  let stack: Stack;
  let plan: string;
  let other: string;

  beforeAll(async () => {
    stack = await useStack({ tenant: { domains: 2, monthlyRecordLimit: limit } });
    other = at(stack.tenant.domainIds, 1);
    plan = (await stack.client.organization()).body.plan.name;
    const { domainId } = stack;
    const lastMonth = startOf(firstDay(month)) - 1;
    await persist(
      stack.db,
      [
        // one short of the limit, over both domains
        ...Array.from({ length: limit - 2 }, (_, index) =>
          recordAt(now + index, { domainId, visitorId: `v-${index}` }),
        ),
        recordAt(now, { domainId: other }),
        // what is of another month does not count
        ...Array.from({ length: 5 }, (_, index) => recordAt(lastMonth - index, { domainId, decision: 'withdraw' })),
      ],
      { owe: true },
    );
  });

  const inMonth = limit - 2;
  const ofDomain = inMonth + 5;
  const read = async (query = '') => (await stack.client.records(stack.domainId, query)).body;
  const record = (domainId = stack.domainId) =>
    stack.client.record(domainId, at(stack.tenant.apiKeys, stack.tenant.domainIds.indexOf(domainId)), {
      decision: 'custom',
    });
  const untilCapped = (capped: boolean) =>
    eventually(async () => expect((await read()).capped).toBe(capped), { within: 5_000 });
  const setLimit = async (value: string) => {
    const { code } = await runCli(stack.env, 'plan', 'set', plan, '--monthly-limit', value);
    expect(code).toBe(0);
  };

  it('is not reached with one record less: the whole log can be read', async () => {
    const body = await read('limit=200');
    expect(body).toMatchObject({ capped: false, total: ofDomain, totalPages: 1 });
    expect(body).not.toHaveProperty('cap');
    expect(body.records).toHaveLength(ofDomain);
    expect((await read('limit=5&page=3')).records).toHaveLength(5);
    // Redis may have been read before the records were there
    await eventually(async () => {
      expect((await stack.client.organization()).body.usage).toEqual({ month, used: limit - 1, limit });
    });
    expect((await stack.client.orgStats()).body.records[0]).toHaveProperty('visitorId');
  });

  describe('is reached with the last one, on whichever domain', () => {
    let cursor: string;
    let newest: RecordsPage['records'];
    const cap = { reason: 'monthly_record_limit', limit, used: limit, resetsAt };

    beforeAll(async () => {
      cursor = (await read('limit=5')).nextCursor ?? '';
      newest = (await read('limit=10')).records;
      expect((await record(other)).status).toBe(202);
      await untilCapped(true);
    });

    const short = (size: number) => ({
      domainId: stack.domainId,
      page: 1,
      limit: size,
      total: ofDomain,
      totalPages: 1,
      capped: true,
      cap,
      nextCursor: null,
      records: newest.slice(0, size),
    });

    it.each<[string, () => string, number]>([
      ['no parameters', () => '', 10],
      ['page 7', () => 'page=7', 10],
      ['limit 200', () => 'limit=200', 10],
      ['page 2 of 10', () => 'page=2&limit=10', 10],
      ['limit 11', () => 'limit=11', 10],
      ['limit 10', () => 'limit=10', 10],
      ['limit 5', () => 'limit=5', 5],
      ['limit 1', () => 'limit=1&page=3', 1],
      ['a cursor from before', () => `cursor=${cursor}`, 10],
      ['a cursor and a limit', () => `cursor=${cursor}&limit=3`, 3],
      ['a decision', () => 'decision=withdraw', 10],
      ['days', () => `from=2000-01-01&to=${dayOf(startOf(firstDay(month)) - 1)}`, 10],
      ['a visitor', () => 'visitorId=v-0', 10],
    ])('%s: the first page, of the newest alone', async (_, query, size) => {
      expect(await read(query())).toEqual(short(size));
    });

    it('a domain with less than a page shows all it has', async () => {
      const { body } = await stack.client.records(other);
      expect(body).toMatchObject({ capped: true, total: 2, totalPages: 1, limit: 10, cap });
      expect(body.records).toHaveLength(2);
    });

    it('a parameter that breaks its rule is refused all the same', async () => {
      expectBlame(await stack.client.records(stack.domainId, 'page=0'), '/page');
      expectBlame(await stack.client.records(stack.domainId, `cursor=${cursor}x`), '/cursor');
    });

    it("the organization's records are short, and its counts whole", async () => {
      const { body } = await stack.client.orgStats();
      expect(body.records.length).toBeGreaterThanOrEqual(limit);
      for (const each of body.records) expect(Object.keys(each)).toEqual(['id', 'domainId', 'decision', 'decidedAt']);
      const today = dayOf(now);
      const stats = await stack.client.stats(stack.domainId, `from=${firstDay(month)}&to=${today}`);
      expect(stats.body.total).toBe(inMonth);
    });

    it('recording goes on, and the cap tells how far', async () => {
      expect((await record()).status).toBe(202);
      await eventually(async () => {
        const body = await read();
        expect(body).toMatchObject({ total: ofDomain + 1, cap: { limit, used: limit + 1 } });
        expect(body.records[0]?.decision).toBe('custom');
      });
    });

    it('a raised limit, and none, open the log within a second; a lowered one closes it', async () => {
      const expectCapped = (capped: boolean) =>
        eventually(async () => expect((await read('limit=200')).capped).toBe(capped), withinASecond);
      await setLimit(String(limit + 2));
      await expectCapped(false);
      await setLimit(String(limit + 1));
      await expectCapped(true);
      await setLimit('none');
      await expectCapped(false);
      expect((await stack.client.organization()).body.usage.limit).toBeNull();
      await setLimit('0');
      await expectCapped(true);
      await setLimit('none');
      await expectCapped(false);
    });
  });

  it('a plan without the consent log refuses it, and no limit matters then', async () => {
    const setNoLog = async (monthlyLimit: string) => {
      const args = ['plan', 'set', 'no-log', '--consent-log', 'false', '--monthly-limit', monthlyLimit];
      expect((await runCli(stack.env, ...args)).code).toBe(0);
    };
    const expectShort = async () => {
      const { status, body } = await stack.client.orgStats();
      expect(status).toBe(200);
      expect(body.records.length).toBeGreaterThanOrEqual(limit);
      for (const each of body.records) expect(Object.keys(each)).toEqual(['id', 'domainId', 'decision', 'decidedAt']);
    };
    // a limit that is reached would shorten the records by itself
    await setNoLog('none');
    await runCli(stack.env, 'org', 'plan', stack.tenant.organizationId, 'no-log');
    await eventually(
      async () => expectProblem(await stack.client.records(stack.domainId), 403, 'plan_feature_required'),
      withinASecond,
    );
    await expectShort();
    expect((await record()).status).toBe(202);

    await setNoLog('1');
    await eventually(async () => expect((await stack.client.organization()).body.usage.limit).toBe(1), withinASecond);
    expectProblem(await stack.client.records(stack.domainId), 403, 'plan_feature_required');
    await expectShort();
  });
});
