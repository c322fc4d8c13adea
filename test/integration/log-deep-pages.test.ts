import { beforeAll, describe, expect, it } from 'vitest';
import type { NewRecord } from '#libs/contract/record';
import { readPage } from '#libs/store/records/log';
import { dropMonth } from '#libs/store/records/months';
import { persist } from '#libs/store/records/persist';
import { persistOrReject } from '#libs/store/records/persist-or-reject';
import { listRejected } from '#libs/store/records/rejected';
import type { Database } from '#libs/store/sql';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';

describe('deep pages of the log', () => {
  let db: Database;

  beforeAll(async () => {
    ({ db } = await openDatabase());
  });

  /** Stores that many records on each of the days, and returns how to read them. */
  const store = async (perDay: Record<string, number>) => {
    const { organizationId, domainIds } = await makeTenant(db);
    const [domainId = ''] = domainIds;
    const records: NewRecord[] = Object.entries(perDay).flatMap(([day, count]) =>
      Array.from({ length: count }, (_, index) =>
        recordAt(Date.parse(day) + index, { domainId, decision: index % 3 === 0 ? 'custom' : 'accept_all' }),
      ),
    );
    if (records.length > 0) await persist(db, records);
    const read = async (offset: number, limit: number, decision?: 'custom') => {
      const page = await db.run((sql) => readPage(sql, { organizationId, domainId, offset, limit, decision }));
      return { total: page.total, more: page.more, ids: page.records.map((record) => record.id) };
    };
    const expected = (offset: number, limit: number, of: (record: NewRecord) => boolean = () => true) => {
      const ids = records
        .filter(of)
        .map((record) => record.id)
        .toSorted()
        .reverse();
      return { total: ids.length, more: ids.length > offset + limit, ids: ids.slice(offset, offset + limit) };
    };
    return { read, expected, domainId, organizationId };
  };

  it.each([1, 2, 9, 10])(
    'every offset and length within a day of %i is the slice, from whichever end',
    async (count) => {
      const { read, expected } = await store({ '2024-02-28': 2, '2024-02-29': count, '2024-03-01': 3 });
      for (let offset = 0; offset <= count + 7; offset += 1) {
        for (let limit = 1; limit <= count + 6; limit += 1) {
          expect(await read(offset, limit), `offset ${offset}, limit ${limit}`).toEqual(expected(offset, limit));
        }
      }
    },
  );

  it('with a decision the offset counts only such records', async () => {
    const { read, expected } = await store({ '2024-02-28': 7, '2024-02-29': 11, '2024-03-01': 5 });
    const isCustom = (record: NewRecord) => record.decision === 'custom';
    for (let offset = 0; offset <= 10; offset += 1) {
      for (let limit = 1; limit <= 9; limit += 1) {
        expect(await read(offset, limit, 'custom')).toEqual(expected(offset, limit, isCustom));
      }
    }
  });

  it('a page past the end is empty, with the true total, however far', async () => {
    const { read } = await store({ '2024-02-29': 5 });
    for (const offset of [5, 6, 200 * 999_999_999])
      expect(await read(offset, 200)).toEqual({ total: 5, more: false, ids: [] });
    const empty = await store({});
    expect(await empty.read(0, 50)).toEqual({ total: 0, more: false, ids: [] });
  });

  it('once a month is dropped, totals and pages agree on what is left', async () => {
    const { read, expected, organizationId, domainId } = await store({
      '2023-07-31': 4,
      '2023-08-01': 6,
      '2023-08-31': 5,
      '2023-09-01': 3,
    });
    await db.run((sql) => dropMonth(sql, '2023-07'));
    const isKept = (record: NewRecord) => record.receivedAt >= '2023-08';
    for (let offset = 0; offset <= 15; offset += 1) {
      for (const limit of [1, 4, 20]) expect(await read(offset, limit)).toEqual(expected(offset, limit, isKept));
    }
    const visitor = { organizationId, domainId, limit: 5, visitorId: 'nobody' };
    expect(await db.run((sql) => readPage(sql, visitor))).toMatchObject({ total: 0, records: [] });
  });

  it('a record that comes late for a month that was dropped is kept aside, and the others of its batch are stored', async () => {
    const { read, domainId } = await store({ '2022-07-31': 4, '2022-08-01': 2 });
    await db.run((sql) => dropMonth(sql, '2022-07'));
    const late = recordAt('2022-07-15T12:00:00.000Z', { domainId });
    const other = recordAt('2022-08-15T12:00:00.000Z', { domainId });
    for (const batch of [[late, other], [late]]) {
      expect(await persistOrReject(db, batch)).toMatchObject({ rejected: 1 });
    }
    const kept = await db.run((sql) => listRejected(sql, { limit: 10 }));
    expect(kept.map(({ record }) => JSON.parse(record))).toEqual([late]);
    const { total, ids } = await read(0, 10);
    expect(ids).toHaveLength(3);
    expect(total).toBe(ids.length);
  });
});
