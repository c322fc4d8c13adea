import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { NewRecord } from '#libs/contract/record';
import { readPage } from '#libs/store/records/log';
import { persist } from '#libs/store/records/persist';
import { persistOrReject } from '#libs/store/records/persist-or-reject';
import { createDatabase, type Database } from '#libs/store/sql';
import { atEnd } from '../support/at-end.ts';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, type Tenant } from '../support/stores.ts';

let url: string;
let db: Database;
let tenant: Tenant;
let domainId: string;

beforeAll(async () => {
  ({ url, db } = await openDatabase());
});
beforeEach(async () => {
  tenant = await makeTenant(db, { domains: 2 });
  domainId = at(tenant.domainIds, 0);
});

/** As a process that was started now. */
function anotherProcess(): Database {
  const settings = { max: 2, statementTimeout: 20_000, deadline: 25_000, prepare: true, name: 'test' };
  const other = createDatabase({ url, ...settings });
  atEnd(() => other.close());
  return other;
}

/** The same process, which counts its statements. */
function counting(process: Database): { process: Database; statements: () => number } {
  let count = 0;
  const run: Database['run'] = (work, deadline) => {
    count += 1;
    return process.run(work, deadline);
  };
  return { process: { ...process, run }, statements: () => count };
}

const hashOf = (n: number) => n.toString(16).padStart(64, '0');
const record = (notice: string | undefined, fields: Partial<NewRecord> = {}) =>
  recordAt('2026-10-10T10:00:00.000Z', { domainId, notice, ...fields });
const rows = (id = domainId) =>
  db.run(
    (sql) => sql<{ number: number; notice: string; isNamed: boolean }[]>`
      select number, encode(hash, 'hex') as notice, named_at is not null as "isNamed"
      from notices where domain_number = (select number from domains where id = ${id}) order by hash`,
  );
const shown = async (id = domainId) => {
  const { organizationId } = tenant;
  const { records } = await db.run((sql) => readPage(sql, { organizationId, domainId: id, limit: 1000, offset: 0 }));
  return new Map(records.map((each) => [each.id, each.notice]));
};
const dangling = async () => {
  const [row] = await db.run(
    (sql) => sql<{ count: number }[]>`
      select count(*) from records
      where notice_number is not null and notice_number not in (select number from notices)`,
  );
  return row?.count;
};

describe('the notice of a record', () => {
  it('is one row for each hash and domain, whichever processes meet it first', async () => {
    const records = [1, 2, 3].flatMap((n) => tenant.domainIds.map((id) => record(hashOf(n), { domainId: id })));
    const ours = Array.from({ length: 4 }, () =>
      records.map(({ domainId: id, notice }) => record(notice, { domainId: id })),
    );
    await Promise.all(
      [db, anotherProcess(), anotherProcess(), anotherProcess()].map((each, n) => persist(each, at(ours, n))),
    );
    for (const id of tenant.domainIds) {
      expect((await rows(id)).map(({ notice, isNamed }) => [notice, isNamed])).toEqual(
        [1, 2, 3].map((n) => [hashOf(n), true]),
      );
      const found = await shown(id);
      for (const each of ours.flat().filter((one) => one.domainId === id)) expect(found.get(each.id)).toBe(each.notice);
    }
  });

  it('costs a statement a batch where it is new, and none where the process has met it', async () => {
    const { process, statements } = counting(anotherProcess());
    await persist(process, [record(undefined)]);
    const without = statements();
    await persist(
      process,
      Array.from({ length: 500 }, (_, n) => record(hashOf(n))),
    );
    expect(statements() - without).toBe(without + 1);
    const before = statements();
    await persist(
      process,
      Array.from({ length: 500 }, (_, n) => record(hashOf(n))),
    );
    expect(statements() - before).toBe(without);
  });

  it('leaves none behind that names nothing where its batch fails', async () => {
    const process = anotherProcess();
    const refused = record(hashOf(1), { visitorId: 'a\0b' });
    await expect(persist(process, [refused])).rejects.toThrow();
    expect((await shown()).size).toBe(0);
    const fine = record(hashOf(1));
    expect(await persistOrReject(process, [refused, fine])).toMatchObject({ added: 1, rejected: 1 });
    expect([...(await shown())]).toEqual([[fine.id, hashOf(1)]]);
    const [rejected] = await db.run((sql) => sql<{ record: string }[]>`select record from rejected_records`);
    expect(JSON.parse(rejected?.record ?? '')).toMatchObject({ id: refused.id, notice: hashOf(1) });
  });

  it('of a domain that is gone costs the others of its batch nothing', async () => {
    const fine = record(hashOf(1));
    const result = await persistOrReject(anotherProcess(), [record(hashOf(1), { domainId: 'gone' }), fine]);
    expect(result).toMatchObject({ added: 1, rejected: 1 });
    expect((await shown()).get(fine.id)).toBe(hashOf(1));
  });

  it('is found in a flood of made-up ones, whose numbers a process does not keep for ever', async () => {
    const { process, statements } = counting(anotherProcess());
    const genuine = hashOf(1);
    await persist(process, [record(genuine)]);
    const [first] = await rows();
    const costOf = async (records: NewRecord[]) => {
      const before = statements();
      await persist(process, records);
      return statements() - before;
    };
    const known = await costOf([record(genuine)]);
    for (let from = 0; from < 41_000; from += 1_000) {
      await persist(
        process,
        Array.from({ length: 1_000 }, (_, n) => record(hashOf(1_000_000 + from + n))),
      );
    }
    // the flood has cost it its place in memory: it is looked for once, and not added again
    expect([await costOf([record(genuine)]), await costOf([record(genuine)])]).toEqual([known + 1, known]);
    expect((await rows()).find(({ notice }) => notice === genuine)).toEqual(first);
    expect(await dangling()).toBe(0);
  });
});
