import { beforeAll, describe, expect, it } from 'vitest';
import { addDays, dayOf, daysBetween, startOf } from '#libs/contract/calendar';
import type { NewRecord } from '#libs/contract/record';
import { type Breakdown, decisions, emptyBreakdown, totalOf } from '#libs/contract/terms';
import { timeOf } from '#libs/contract/uuid';
import { createAdministration } from '#libs/store/tenants/administration';
import { tokenFor } from '../support/client.ts';
import { makeId } from '../support/ids.ts';
import { recordAt } from '../support/records.ts';
import { at, type Stack, storeRecords, useStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const today = dayOf(Date.now());
const daysAgo = (count: number) => addDays(today, -count);
const firstMoment = (day: string) => startOf(day);
const lastMoment = (day: string) => startOf(day) + 86_399_999;

/** Around the edges of today, of 7 days and of 30 days, over three domains and all decisions in turn. */
const times = [
  firstMoment(today),
  firstMoment(today) + 1,
  lastMoment(daysAgo(1)),
  firstMoment(daysAgo(3)),
  firstMoment(daysAgo(3)) + 1,
  firstMoment(daysAgo(3)) + 2,
  lastMoment(daysAgo(6)),
  firstMoment(daysAgo(6)),
  lastMoment(daysAgo(7)),
  firstMoment(daysAgo(15)),
  firstMoment(daysAgo(29)),
  lastMoment(daysAgo(30)),
  firstMoment(daysAgo(31)),
];

describe("an organization's statistics", () => {
  let stack: Stack;
  let records: NewRecord[];

  beforeAll(async () => {
    stack = await useStack({ tenant: { domains: 3 } });
    records = times.map((time, index) =>
      recordAt(time, {
        domainId: at(stack.tenant.domainIds, index % 3),
        decision: at(decisions, index % decisions.length),
        visitorId: `visitor-${index}`,
      }),
    );
    await storeRecords(stack, records);
  });

  const dayOfRecord = ({ id }: NewRecord) => dayOf(timeOf(id));
  const count = (belongs: (day: string) => boolean): Breakdown => {
    const counts = emptyBreakdown();
    for (const record of records) if (belongs(dayOfRecord(record))) counts[record.decision] += 1;
    return counts;
  };
  const newestFirst = (from: string) =>
    records
      .filter((record) => dayOfRecord(record) >= from)
      .map(({ id }) => id)
      .sort()
      .reverse();

  it('count 30 days, today included, over all domains', async () => {
    const { body } = await stack.client.orgStats();
    expect(body.organizationId).toBe(stack.tenant.organizationId);
    expect(body.period).toEqual({ from: daysAgo(29), to: today });
    expect(body.total).toBe(11);
    expect(body.breakdown).toEqual(count((day) => day >= daysAgo(29)));
    expect(totalOf(body.breakdown)).toBe(body.total);
  });

  it('have 30 daily entries, oldest first, which add up', async () => {
    const { body } = await stack.client.orgStats();
    expect(body.daily).toEqual(
      daysBetween(daysAgo(29), today).map((date) => {
        const counts = count((day) => day === date);
        return { date, total: totalOf(counts), ...counts };
      }),
    );
    expect(body.daily.reduce((sum, day) => sum + day.total, 0)).toBe(body.total);
  });

  it('hold the raw records of the last 7 days, newest first, in full', async () => {
    const { body } = await stack.client.orgStats();
    expect(body.recordsPeriod).toEqual({ from: daysAgo(6), to: today });
    expect(body.recordsTotal).toBe(8);
    expect(body.records.map(({ id }) => id)).toEqual(newestFirst(daysAgo(6)));
    expect(new Set(body.records.map(({ domainId }) => domainId))).toEqual(new Set(stack.tenant.domainIds));
    expect(body.records[0]).toMatchObject({
      decidedAt: new Date(firstMoment(today) + 1).toISOString(),
      visitorId: 'visitor-1',
    });
    expect(body.nextCursor).toBeNull();
  });

  it('are the same from Redis as from Postgres', async () => {
    const { body } = await stack.client.orgStats();
    await eventually(async () => {
      const again = await stack.client.orgStats();
      expect(again.headers.get('x-stats-source')).toBe('redis');
      expect(again.body).toEqual(body);
    });
  });

  const walk = async (limit: number) => {
    const pages: string[][] = [];
    for (let cursor = ''; pages.length < 20; ) {
      const { body } = await stack.client.orgStats(`limit=${limit}${cursor && `&cursor=${cursor}`}`);
      expect(body.recordsTotal).toBe(8);
      pages.push(body.records.map(({ domainId, id }) => `${domainId} ${id}`));
      if (body.nextCursor === null) return pages;
      cursor = body.nextCursor;
    }
    throw new Error('the walk does not end');
  };

  it.each([
    [1, 8],
    [3, 3],
    [4, 2],
    [7, 2],
    [8, 1],
    [1000, 1],
  ])('a walk with limit %i goes through every record once, in %i pages', async (limit, count) => {
    const pages = await walk(limit);
    expect(pages).toHaveLength(count);
    expect(pages.flat().map((key) => key.split(' ')[1])).toEqual(newestFirst(daysAgo(6)));
  });

  it('without the consent log show four fields of each record, and the same cursor', async () => {
    const admin = createAdministration(stack.db, 'test');
    await admin.setPlan('without-log', { consentLog: false });
    const plan = (await stack.client.organization()).body.plan.name;
    await admin.setOrganizationPlan(stack.tenant.organizationId, 'without-log');
    await eventually(async () => {
      const { body } = await stack.client.orgStats('limit=3');
      expect(body.records.map((record) => Object.keys(record))).toEqual(
        Array(3).fill(['id', 'domainId', 'decision', 'decidedAt']),
      );
    });
    expect((await walk(3)).flat()).toHaveLength(8);
    await admin.setOrganizationPlan(stack.tenant.organizationId, plan);
    await eventually(async () => {
      const { body } = await stack.client.orgStats('limit=3');
      expect(body.records[0]).toHaveProperty('visitorId');
    });
  });
});

describe('records of several domains that share an id', () => {
  it('are all gone through by a walk', async () => {
    const stack = await useStack({ tenant: { domains: 3 } });
    const { tenant, client } = stack;
    const id = makeId();
    await storeRecords(
      stack,
      tenant.domainIds.map((domainId) => recordAt(timeOf(id), { domainId, id })),
    );
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body } = await client.orgStats(`limit=1${cursor && `&cursor=${cursor}`}`);
      expect(body.recordsTotal).toBe(3);
      seen.push(...body.records.map(({ domainId }) => domainId));
      cursor = body.nextCursor;
    }
    expect(seen.sort()).toEqual(tenant.domainIds.toSorted());
  });
});

describe('records of the organization', () => {
  it('are not read again for a client that has them, until a total moves', async () => {
    const own = await useStack();
    const { baseUrl } = own.api;
    const ask = (tag = '', limit = 5) =>
      fetch(`${baseUrl}/v1/consent/org-stats?limit=${limit}`, {
        headers: { authorization: `Bearer ${tokenFor(own.tenant.organizationId)}`, 'if-none-match': tag },
      });
    await storeRecords(own, [recordAt(Date.now(), { domainId: own.domainId })]);
    const tag = await eventually(async () => {
      const found = (await ask()).headers.get('etag');
      if (found === null) throw new Error('no tag');
      return found;
    });
    const again = await ask(tag);
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', tag]);
    expect((await ask(tag, 6)).status).toBe(200);
    expect((await ask('"another"')).status).toBe(200);
    await storeRecords(own, [recordAt(Date.now() - 20 * 86_400_000, { domainId: own.domainId })]);
    const moved = await ask(tag);
    expect(moved.status).toBe(200);
    expect(((await moved.json()) as { total: number }).total).toBe(2);
    await createAdministration(own.db, 'test').setPlan('no-log', { consentLog: false });
    const second = moved.headers.get('etag') ?? '';
    await createAdministration(own.db, 'test').setOrganizationPlan(own.tenant.organizationId, 'no-log');
    await eventually(async () => expect((await ask(second)).status).toBe(200));
  });
});
