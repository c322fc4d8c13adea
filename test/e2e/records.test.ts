import { beforeAll, describe, expect, it } from 'vitest';
import { addDays, dayOf, startOf } from '#libs/contract/calendar';
import type { NewRecord } from '#libs/contract/record';
import type { RecordsPage } from '#libs/contract/responses';
import { decisions } from '#libs/contract/terms';
import { timeOf } from '#libs/contract/uuid';
import { recordAt } from '../support/records.ts';
import { at, type Stack, storeRecords, useStack } from '../support/stack.ts';

const count = 57;
const today = dayOf(Date.now());
/** Ten a day, backwards from noon today: over six days and at least one month's end every year. */
const timeOfIndex = (index: number) =>
  startOf(addDays(today, -Math.floor(index / 10))) + 43_200_000 - (index % 10) * 1_000;

describe('the log of a domain', () => {
  let stack: Stack;
  /** newest first */
  let records: NewRecord[];

  beforeAll(async () => {
    stack = await useStack({ tenant: { domains: 2 } });
    const [domainId = '', other = ''] = stack.tenant.domainIds;
    records = Array.from({ length: count }, (_, index) =>
      recordAt(timeOfIndex(index), {
        domainId,
        decision: at(decisions, index % 4),
        visitorId: `visitor-${index % 5}`,
      }),
    );
    await storeRecords(stack, [...records, ...records.map((record) => ({ ...record, domainId: other }))]);
  });

  const read = async (query = '') => (await stack.client.records(stack.domainId, query)).body;
  const idsOf = (list: { id: string }[]) => list.map(({ id }) => id);

  it('begins with the newest 50', async () => {
    expect(await read()).toMatchObject({
      domainId: stack.domainId,
      page: 1,
      limit: 50,
      total: count,
      totalPages: 2,
      capped: false,
    });
    expect(idsOf((await read()).records)).toEqual(idsOf(records.slice(0, 50)));
  });

  it.each([1, 7, 10, 56, 57, 58, 200])('in pages of %i has every record once, in order', async (limit) => {
    const pages = Math.ceil(count / limit);
    const seen: string[] = [];
    for (let page = 1; page <= pages; page += 1) {
      const body = await read(`page=${page}&limit=${limit}`);
      expect(body).toMatchObject({ page, limit, total: count, totalPages: pages });
      seen.push(...idsOf(body.records));
    }
    expect(seen).toEqual(idsOf(records));
  });

  it.each([1, 7, 56, 57, 200])('by cursor, %i at a time, is the same as by page', async (limit) => {
    const seen: string[] = [];
    let body = await read(`limit=${limit}`);
    for (let page = 1; ; page += 1) {
      expect(body).toEqual(await read(`page=${page}&limit=${limit}`));
      seen.push(...idsOf(body.records));
      if (body.nextCursor === null) break;
      body = await read(`limit=${limit}&cursor=${body.nextCursor}`);
    }
    expect(seen).toEqual(idsOf(records));
  });

  it('a cursor goes on where it was given although newer records have come', async () => {
    const { domainIds } = stack.tenant;
    const domainId = at(domainIds, 1);
    const { body: first } = await stack.client.records(domainId, 'limit=5');
    await storeRecords(stack, [recordAt(timeOfIndex(0) + 1_000, { domainId })]);
    const { body: next } = await stack.client.records(domainId, `limit=5&cursor=${first.nextCursor}`);
    expect(idsOf(next.records)).toEqual(idsOf(records.slice(5, 10)));
    const { body: byPage } = await stack.client.records(domainId, 'limit=5&page=2');
    expect(idsOf(byPage.records)).toEqual(idsOf(records.slice(4, 9)));
  });

  it.each(['page=3', 'page=58&limit=1', 'page=1000000000&limit=200'])(
    'past its end (%s) is empty, and no error',
    async (query) => {
      const body = await read(query);
      expect(body).toMatchObject({ total: count, records: [], nextCursor: null });
      expect(body.page).toBe(Number(/page=(\d+)/.exec(query)?.[1]));
    },
  );

  const [dayBefore, twoBefore] = [addDays(today, -1), addDays(today, -2)];
  const day = ({ id }: NewRecord) => dayOf(timeOf(id));

  it.each<[string, (record: NewRecord) => boolean]>([
    ['decision=custom', ({ decision }) => decision === 'custom'],
    ['decision=withdraw', ({ decision }) => decision === 'withdraw'],
    [`from=${dayBefore}`, (record) => day(record) >= dayBefore],
    [`to=${twoBefore}`, (record) => day(record) <= twoBefore],
    [`from=${twoBefore}&to=${dayBefore}`, (record) => day(record) >= twoBefore && day(record) <= dayBefore],
    [
      `from=${dayBefore}&to=${dayBefore}&decision=accept_all`,
      (record) => day(record) === dayBefore && record.decision === 'accept_all',
    ],
    ['visitorId=visitor-3', ({ visitorId }) => visitorId === 'visitor-3'],
    [
      'visitorId=visitor-3&decision=reject_all',
      ({ visitorId, decision }) => visitorId === 'visitor-3' && decision === 'reject_all',
    ],
    [
      `visitorId=visitor-0&from=${twoBefore}&to=${twoBefore}`,
      (record) => record.visitorId === 'visitor-0' && day(record) === twoBefore,
    ],
    ['visitorId=nobody', () => false],
    ['visitorId=visitor-', () => false],
    ['from=2000-01-01&to=2000-12-31', () => false],
  ])('with %s is what that says, by page and by cursor', async (filter, belongs) => {
    const expected = idsOf(records.filter(belongs));
    const whole = await read(`${filter}&limit=200`);
    expect(idsOf(whole.records)).toEqual(expected);
    expect(whole).toMatchObject({ total: expected.length, totalPages: Math.ceil(expected.length / 200) });
    const byPage: string[] = [];
    for (let page = 1; byPage.length < expected.length; page += 1) {
      const body = await read(`${filter}&limit=4&page=${page}`);
      if (body.records.length === 0) break;
      byPage.push(...idsOf(body.records));
    }
    expect(byPage).toEqual(expected);
    const byCursor: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const body: RecordsPage = await read(`${filter}&limit=4${cursor && `&cursor=${cursor}`}`);
      expect(body.total).toBe(expected.length);
      byCursor.push(...idsOf(body.records));
      cursor = body.nextCursor;
    }
    expect(byCursor).toEqual(expected);
  });
});
