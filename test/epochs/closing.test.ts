import postgres from 'postgres';
import { describe, expect, it } from 'vitest';
import { createLog } from '#libs/base/ops/process-log';
import { secondsBehind } from '#libs/epochs/closed-epochs';
import { closeEpoch, createClosing, listInTheWay } from '#libs/epochs/closing';
import { readOpenEpoch } from '#libs/log/exported-lines';
import { recordBacklog } from '#libs/record/metrics';
import { persist } from '#libs/record/persist/persist';
import { atEnd } from '../support/at-end.ts';
import { recordAt } from '../support/records.ts';
import { closeOpenEpoch } from '../support/sealing.ts';
import { at } from '../support/stack.ts';
import { connectDatabase, makeTenant, openDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const { url, db, sql } = await openDatabase();
const domainId = at((await makeTenant(db)).domainIds, 0);

describe('epochs', () => {
  const connect = (name = 'test') => {
    const sql = postgres(url, { max: 1, connection: { application_name: name }, onnotice: () => {} });
    atEnd(() => sql.end({ timeout: 0 }));
    return sql;
  };
  const openEpoch = async () => (await sql<{ open: number }>`select open from epochs`)[0]?.open ?? 0;
  const waitsForLock = (waiting: number) =>
    eventually(async () => {
      const rows = await sql`
          select from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())`;
      expect(rows.length).toBe(waiting);
    });

  it('whoever stores records while an epoch is being closed stamps the next one', async () => {
    const [closer, writer] = [connect(), connect()];
    const before = await openEpoch();
    const begun = await closer.reserve();
    await begun`begin`;
    await begun`select pg_advisory_xact_lock(hashtext('assent.epoch'))`;
    await begun`update epochs set open = open + 1`;
    const stamped = writer<{ epoch: number }[]>`select open_epoch() as epoch`.then(([row]) => row?.epoch);
    await waitsForLock(1);
    await begun`commit`;
    begun.release();
    expect(await stamped).toBe(before + 1);
    // who read it under repeatable read would stamp the closed one
    const refused = writer.begin('isolation level repeatable read', (sql) => sql`select open_epoch()`);
    await expect(refused).rejects.toThrow('read committed');
  });

  it('no closed epoch grows, however many store records while epochs are closed', async () => {
    const counts = () =>
      db.run(async (sql) => {
        const rows = await sql<{ epoch: number; records: number }[]>`
          select epoch, count(*)::int as records from records where epoch < (select open from epochs) group by epoch`;
        return new Map(rows.map(({ epoch, records }) => [epoch, records]));
      });
    let isStoring = true;
    let stored = 0;
    const writers = Array.from({ length: 4 }, async () => {
      while (isStoring) {
        const batch = Array.from({ length: 20 }, () => recordAt(Date.now(), { domainId }));
        stored += (await persist(db, batch)).added;
      }
    });
    const closed = new Map<number, number>();
    for (let round = 0; round < 15; round += 1) {
      await closeOpenEpoch(db);
      for (const [epoch, records] of await counts()) if (!closed.has(epoch)) closed.set(epoch, records);
    }
    isStoring = false;
    await Promise.all(writers);
    expect(stored).toBeGreaterThan(0);
    for (const [epoch, records] of await counts())
      expect({ epoch, records: closed.get(epoch) }).toEqual({ epoch, records });
  });

  it('whoever stores records never waits for whoever closes an epoch, however long another one takes', async () => {
    await closeOpenEpoch(db);
    const held = await connect().reserve();
    await held`begin`;
    await held`select open_epoch()`;
    const before = await openEpoch();
    let isOver = false;
    const closing = closeEpoch(db, { pace: 0, patience: 10_000 }).finally(() => {
      isOver = true;
    });
    await waitsForLock(1);
    expect((await persist(db, [recordAt(Date.now(), { domainId })])).added).toBe(1);
    expect({ isOver, open: await openEpoch() }).toEqual({ isOver: false, open: before });
    // an export that begins now has it, too
    expect(await readOpenEpoch(db)).toBe(before + 1);
    await held`commit`;
    expect(await closing).toBe('closed');
    const [newest] = await sql`select max(epoch) as epoch from records`;
    expect(newest).toEqual({ epoch: before + 1 });
  });

  it('two that close at once close one', async () => {
    await sql`update closed_epochs set closed_at = closed_at - interval '2 minutes'`;
    const before = await openEpoch();
    await Promise.all(Array.from({ length: 8 }, () => closeEpoch(db, { pace: 60_000, patience: 1_000 })));
    expect((await openEpoch()) - before).toBe(1);
  });

  it('one that read the open epoch just before another closed it does not close the next one', async () => {
    // whoever reads one that is about to be closed has its snapshot by then, and waits with it
    await sql`create schema slow`;
    await sql`
      create function slow.waits() returns boolean language plpgsql cost 10000
        as $$begin perform pg_advisory_xact_lock_shared(1); return true; end$$`;
    await sql`create view slow.epochs as select * from public.epochs where filling <= open or slow.waits()`;
    const slow = connectDatabase(`${url}&search_path=slow,public`).db;
    const writer = await connect().reserve();
    await writer`begin`;
    await writer`select open_epoch()`;
    const before = await openEpoch();
    expect(await closeEpoch(db, { pace: 0, patience: 50 })).toBe('in the way');
    await writer`rollback`;
    const held = await connect().reserve();
    await held`begin`;
    await held`select pg_advisory_xact_lock(1)`;
    const late = closeEpoch(slow, { pace: 0, patience: 5_000 });
    await waitsForLock(1);
    expect(await closeEpoch(db, { pace: 0, patience: 5_000 })).toBe('closed');
    await held`commit`;
    expect(await late).toBe('not yet');
    expect(await openEpoch()).toBe(before + 1);
  });

  it('one whose end a clock that was 400 days ahead noted is followed on time, and no age is negative', async () => {
    await closeOpenEpoch(db);
    await sql`update closed_epochs set closed_at = clock_timestamp() + interval '400 days'`;
    const ages = async () => {
      const { epochOpen, derivationLag } = await db.run(recordBacklog(['none']).ask);
      return [epochOpen, derivationLag.none ?? -1, await db.run((sql) => secondsBehind(sql, 0))];
    };
    for (const age of await ages()) expect(age).toBeGreaterThanOrEqual(0);
    expect(await closeEpoch(db, { pace: 600_000, patience: 5_000 })).toBe('closed');
    expect(await closeEpoch(db, { pace: 600_000, patience: 5_000 })).toBe('not yet');
    for (const age of await ages()) expect(age).toBeGreaterThan(0);
  });

  it('a transaction that stores records for long keeps its epoch open, is named, and after a while is ended', async () => {
    const slow = connect('assent-slow');
    const held = await slow.reserve();
    await held`begin`;
    await held`select open_epoch()`;
    const before = await openEpoch();
    expect(await closeEpoch(db, { pace: 0, patience: 50 })).toBe('in the way');
    expect(await openEpoch()).toBe(before);
    expect(await db.run(listInTheWay)).toMatchObject([{ name: 'assent-slow' }]);
    const lines: object[] = [];
    const log = {
      ...createLog('test', 'silent'),
      warn: (line: object) => lines.push(line),
      error: (line: object) => lines.push(line),
    };
    const round = createClosing({ db, log, pace: 0, endAfterSeconds: 0.01 });
    await eventually(async () => {
      await round();
      expect(await openEpoch()).toBe(before + 1);
    });
    expect(lines).toContainEqual(expect.objectContaining({ event: 'epoch_stays_open' }));
    expect(lines).toContainEqual(expect.objectContaining({ event: 'connection_ended', name: 'assent-slow' }));
  });
});
