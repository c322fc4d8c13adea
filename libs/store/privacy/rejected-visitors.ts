/** Rejected records of erased visitors lose their personal fields too, so that a replay brings nothing back. */
import { type NewRecord, newRecord } from '#libs/contract/record';
import { listRejected } from '../records/rejected.ts';
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

/** Returns how many were blanked. */
export async function blankRejected(
  db: Database,
  isErased: (record: Pick<NewRecord, 'domainId' | 'visitorId'>) => boolean,
): Promise<number> {
  let blanked = 0;
  let after: number | undefined;
  for (;;) {
    const page = await db.run((sql) => listRejected(sql, { limit: pageSize, after }));
    after = page.at(-1)?.id;
    for (const { id, record } of page) {
      const read = newRecord.safeParse(parsed(record));
      if (!read.success || !isErased(read.data)) continue;
      await db.run((sql) => replace(sql, id, withoutPersonal(read.data)));
      blanked += 1;
    }
    if (page.length < pageSize) return blanked;
  }
}

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
