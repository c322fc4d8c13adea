/** Rejected records of erased visitors lose their personal fields too, so that a replay brings nothing back. */
import { type NewRecord, newRecord } from '#libs/contract/record';
import type { RejectedRecord } from '../records/rejected.ts';
import type { Database, Sql } from '../sql.ts';

const pageSize = 500;

/** Of a record that is not stored yet, as it is once its visitor was erased. */
export const withoutPersonal = ({
  visitorId: _,
  ip: __,
  userAgent: ___,
  pageUrl: ____,
  metadata: _____,
  ...rest
}: NewRecord): NewRecord => rest;

/** `onlyNew`: those that came since the last time, of which nobody has asked yet; else all. Returns how many were blanked. */
export async function blankRejected(
  db: Database,
  erasedOf: (records: NewRecord[]) => Promise<Set<NewRecord>>,
  { onlyNew }: { onlyNew: boolean },
): Promise<number> {
  let blanked = 0;
  let after = 0;
  for (;;) {
    const page = await db.run((sql) => listAfter(sql, after, onlyNew));
    after = page.at(-1)?.id ?? after;
    const read = page.flatMap(({ id, record }) => {
      const { data } = newRecord.safeParse(parsed(record));
      return data?.visitorId === undefined ? [] : [{ id, record: data }];
    });
    const erased = await erasedOf(read.map(({ record }) => record));
    for (const { id, record } of read) {
      if (!erased.has(record)) continue;
      await db.run((sql) => replace(sql, id, withoutPersonal(record)));
      blanked += 1;
    }
    await db.run((sql) => noteSearched(sql, page));
    if (page.length < pageSize) return blanked;
  }
}

const listAfter = (sql: Sql, after: number, onlyNew: boolean) => sql<Pick<RejectedRecord, 'id' | 'record'>[]>`
  select id, record from rejected_records
  where id > ${after} ${onlyNew ? sql`and searched_at is null` : sql``}
  order by id limit ${pageSize}`;

const noteSearched = (sql: Sql, page: { id: number }[]) => sql`
  update rejected_records set searched_at = clock_timestamp()
  where id = any(${page.map(({ id }) => id)}::bigint[]) and searched_at is null`;

/** One that is there without personal fields already is not listed twice. The error may quote what it was about. */
const replace = (sql: Sql, id: number, record: NewRecord) => sql`
  with known as (
    select ${JSON.stringify(Object.fromEntries(Object.entries(record).sort()))}::text as record
  ),
  replaced as (
    update rejected_records set record = known.record, error = 'refused before its visitor was erased'
    from known
    where id = ${id}
      and not exists (select from rejected_records where record_hash(rejected_records.record) = record_hash(known.record))
    returning id
  )
  delete from rejected_records where id = ${id} and not exists (select from replaced)`;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
