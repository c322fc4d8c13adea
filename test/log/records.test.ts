/** The log of a domain over HTTP; that its pages and cursors are right for any records is shown in test/log/pages.test.ts. */
import { describe, expect, it } from 'vitest';
import { addDays, dayOf, startOf, timeOf } from '#libs/base/terms/calendar';
import { decisions } from '#libs/base/terms/terms';
import type { RecordsPage } from '#libs/log/contract';
import type { NewRecord } from '#libs/record/contract';
import { expectBlame } from '../support/problems.ts';
import { recordAt } from '../support/records.ts';
import { at, storeRecords, useStack } from '../support/stack.ts';

const count = 57;
const today = dayOf(Date.now());
/** Ten a day, backwards from noon today: over six days and at least one month's end every year. */
const timeOfIndex = (index: number) =>
  startOf(addDays(today, -Math.floor(index / 10))) + 43_200_000 - (index % 10) * 1_000;

const stack = await useStack({ tenant: { domains: 2 } });
const [domainId = '', other = ''] = stack.tenant.domainIds;
/** newest first */
const records = Array.from({ length: count }, (_, index) =>
  recordAt(timeOfIndex(index), {
    domainId,
    decision: at(decisions, index % 4),
    visitorId: `visitor-${index % 5}`,
    ...(index % 3 === 0 && { bot: true }),
  }),
);
await storeRecords(stack, [...records, ...records.map((record) => ({ ...record, domainId: other }))]);

describe('the log of a domain', () => {
  const read = async (query = '') => (await stack.client.records(stack.domainId, query)).body;
  const idsOf = (list: { id: string }[]) => list.map(({ id }) => id);

  it('begins with the newest 50, and is empty past its end', async () => {
    const { records: first, nextCursor: _, ...rest } = await read();
    const whole = { domainId: stack.domainId, limit: 50, total: count, totalPages: 2, capped: false };
    expect(rest).toEqual({ ...whole, page: 1 });
    expect(idsOf(first)).toEqual(idsOf(records.slice(0, 50)));
    expect(await read('page=3')).toEqual({ ...whole, page: 3, records: [], nextCursor: null });
  });

  const [dayBefore, twoBefore] = [addDays(today, -1), addDays(today, -2)];
  const day = ({ id }: NewRecord) => dayOf(timeOf(id));

  it.each<[string, (record: NewRecord) => boolean]>([
    ['', () => true],
    [`from=${twoBefore}&to=${dayBefore}`, (record) => day(record) >= twoBefore && day(record) <= dayBefore],
    [
      `visitorId=visitor-0&to=${twoBefore}&decision=custom`,
      (record) => record.visitorId === 'visitor-0' && day(record) <= twoBefore && record.decision === 'custom',
    ],
    ['visitorId=visitor-', () => false],
    ['bot=false&decision=custom', ({ bot, decision }) => !bot && decision === 'custom'],
  ])('with %j is what that says, by page and by cursor', async (filter, belongs) => {
    const expected = idsOf(records.filter(belongs));
    const pages = Math.ceil(expected.length / 10);
    let body: RecordsPage = await read(`${filter}&limit=10`);
    const seen = idsOf(body.records);
    for (let page = 2; body.nextCursor !== null; page += 1) {
      const other = filter === '' ? 'bot=false' : '';
      expectBlame(await stack.client.records(stack.domainId, `${other}&cursor=${body.nextCursor}`), '/cursor');
      body = await read(`${filter}&limit=10&cursor=${body.nextCursor}`);
      expect(body).toEqual(await read(`${filter}&limit=10&page=${page}`));
      seen.push(...idsOf(body.records));
    }
    expect(seen).toEqual(expected);
    expect(body).toMatchObject({ total: expected.length, totalPages: pages, page: Math.max(pages, 1) });
  });
});
