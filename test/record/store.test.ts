import { beforeEach, describe, expect, it } from 'vitest';
import { isUnavailable } from '#libs/base/db/errors';
import { replay } from '#libs/log/commands';
import type { NewRecord } from '#libs/record/contract';
import { dropMonth, makeMonth } from '#libs/record/month-partitions';
import { listRejected } from '#libs/record/rejected';
import { persistOrReject } from '#libs/record/store';
import { countOwed, countRecords, storedCounters } from '../support/counts.ts';
import { counting, openPool } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase, type Tenant } from '../support/stores.ts';

const noon = '2024-05-15T12:00:00.000Z';

const { url, db } = await openDatabase();
// to make it costs a statement
await db.run((sql) => makeMonth(sql, '2024-05'));

describe('a record that Postgres refuses', () => {
  let tenant: Tenant;
  let domainId: string;
  beforeEach(async () => {
    tenant = await makeTenant(db);
    [domainId = ''] = tenant.domainIds;
    await db.run((sql) => sql`truncate rejected_records`);
  });

  const countStored = async () => {
    const counters = await countRecords(db, tenant.organizationId);
    expect(await storedCounters(db, tenant.organizationId)).toEqual(counters);
    return counters.find(({ domainId, period }) => domainId === '' && period === '2024-05')?.accept_all ?? 0;
  };
  const rejected = () => db.run(async (sql) => [...(await listRejected(sql, { limit: 100 }))].reverse());
  const bad = (): Record<string, NewRecord> => ({
    'NUL in a text': recordAt(noon, { domainId, visitorId: 'a\0b' }),
    'NUL in metadata': recordAt(noon, { domainId, metadata: { key: 'a\0b' } }),
    'half a surrogate pair': recordAt(noon, { domainId, bannerVersion: '\ud800' }),
    'half a surrogate pair in metadata': recordAt(noon, { domainId, metadata: { key: '\udc00' } }),
    'an unknown domain': recordAt(noon, { domainId: 'dom_unknown', visitorId: 'who decided' }),
    'a time that is none': recordAt(noon, { domainId, receivedAt: 'yesterday-ish' }),
    'an id that is none': { ...recordAt(noon, { domainId }), id: 'no-uuid' },
    'an id of the year 10889': recordAt(noon, { domainId, id: 'ffffffff-ffff-7000-8000-000000000000' }),
  });

  it('is none where Postgres refuses the connection, whatever the code of that', async () => {
    const address = new URL(url);
    address.searchParams.set('work_mem', 'much');
    const refused = openPool(address.toString());
    const response = persistOrReject(refused, [recordAt(noon, { domainId })]);
    await expect(response).rejects.toMatchObject({ code: '22023', severity: 'FATAL' });
    await expect(response).rejects.toSatisfy(isUnavailable);
  });

  it('is kept whole with its error, and does not cost the others of its batch, wherever it lies in a hundred', async () => {
    const batch = Array.from({ length: 100 }, () => recordAt(noon, { domainId }));
    const offenders = Object.values(bad());
    [0, 13, 37, 49, 50, 51, 98, 99].forEach((at, index) => {
      const offender = offenders[index];
      if (offender) batch[at] = offender;
    });
    const { added, rejected: count, counters } = await persistOrReject(db, batch);
    expect([added, count]).toEqual([92, 8]);
    expect(await countStored()).toBe(92);
    const byId = (one: NewRecord, other: NewRecord) => (one.id < other.id ? -1 : 1);
    const kept = await rejected();
    const records = kept.map(({ record }): NewRecord => JSON.parse(record));
    expect(records.toSorted(byId)).toEqual(offenders.toSorted(byId));
    for (const { errorCode, error } of kept)
      expect([errorCode, error]).toEqual([expect.stringMatching(/^2[23]/), expect.stringMatching(/./)]);
    // of the values that came for each counter, what the caller raises to is the largest
    expect(Math.max(...counters.map(({ accept_all }) => accept_all))).toBe(92);
  });

  it('is listed once however often its job is delivered', async () => {
    const batch = [recordAt(noon, { domainId }), ...Object.values(bad()), recordAt(noon, { domainId })];
    for (let delivery = 0; delivery < 3; delivery += 1) await persistOrReject(db, batch);
    expect(await rejected()).toHaveLength(Object.keys(bad()).length);
    expect(await countStored()).toBe(2);
  });

  it('costs a batch one statement more where half of it is of a domain that is gone, and is stored by a replay once that is back', async () => {
    const gone = `dom_gone_${tenant.organizationId}`;
    const batch = Array.from({ length: 40 }, (_, n) => recordAt(noon, { domainId: n % 2 === 0 ? domainId : gone }));
    const { db: process, asked } = counting(db);
    expect(await persistOrReject(process, batch)).toMatchObject({ added: 20, rejected: 20 });
    expect(asked()).toBe(2);
    const list = await rejected();
    expect(await replay(db, 6)).toEqual({ replayed: 20, stored: 0, rejected: 20 });
    expect(await rejected()).toEqual(list);
    await db.run(
      (sql) => sql`insert into domains (id, organization_id, name) values (${gone}, ${tenant.organizationId}, 'back')`,
    );
    expect(await replay(db, 6)).toEqual({ replayed: 20, stored: 20, rejected: 0 });
    expect(await rejected()).toEqual([]);
    expect(await countStored()).toBe(40);
  });

  it('is one that comes late for a month that was dropped, and the others of its batch are stored', async () => {
    const [late, other] = [recordAt('2022-07-15', { domainId }), recordAt(noon, { domainId })];
    await persistOrReject(db, [recordAt('2022-07-31', { domainId })]);
    await db.run((sql) => dropMonth(sql, '2022-07'));
    for (const batch of [[late, other], [late]])
      expect(await persistOrReject(db, batch)).toMatchObject({ rejected: 1 });
    expect((await rejected()).map(({ record }) => JSON.parse(record))).toEqual([late]);
    expect(await db.run((sql) => sql`select from records where id in ${sql([late.id, other.id])}`)).toHaveLength(1);
  });

  it('is none where the error is not its own: that is thrown', async () => {
    await db.run((sql) => sql`alter table counters rename to counters_away`);
    const response = persistOrReject(db, [recordAt(noon, { domainId })]);
    await expect(response).rejects.toThrow(/"counters" does not exist/);
    await db.run((sql) => sql`alter table counters_away rename to counters`);
    expect(await rejected()).toHaveLength(0);
  });

  it('is none where whatever Postgres gets takes too long: a few statements tell', async () => {
    const { db: slow, asked } = counting(openPool(url, { statementTimeout: 50 }));
    const batch = Array.from({ length: 100 }, () => recordAt(noon, { domainId }));
    await db.run((sql) =>
      sql.begin(async (transaction) => {
        await transaction`lock table counters`;
        await expect(persistOrReject(slow, batch)).rejects.toMatchObject({ code: '57014' });
      }),
    );
    expect(asked()).toBeLessThan(15);
    expect(await rejected()).toHaveLength(0);
  });

  it('leaves what is owed for the others', async () => {
    const records = [recordAt(noon, { domainId }), recordAt(noon, { domainId: 'dom_unknown' })];
    await persistOrReject(db, records, { owe: true });
    expect(await countOwed(db, tenant.organizationId)).toBe(4);
  });
});
