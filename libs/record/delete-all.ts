/** Deletes all records of an organization in small statements. Yields the number of rows after each. */
import { z } from 'zod';
import type { Database, Sql } from '#libs/base/db/database';
import type { DeletedOrganization } from '#libs/base/db/tables';
import { deleteRejected, listRejected } from './rejected.ts';

/** rows per statement */
const batch = 1_000;

export async function* deleteRecords(db: Database, leaving: DeletedOrganization): AsyncIterable<number> {
  for (const partition of await db.read(listPartitions)) {
    for (let some = -1; some !== 0; ) {
      some = await db.write((sql) => deleteSome(sql, partition, leaving));
      yield some;
    }
  }
}

const listPartitions = async (sql: Sql): Promise<string[]> => {
  const rows = await sql<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = 'records'::regclass order by 1`;
  return rows.map(({ name }) => name);
};

/** User agents that no other record refers to are deleted later, as after an erasure. */
async function deleteSome(sql: Sql, partition: string, { domains }: DeletedOrganization): Promise<number> {
  const [row] = await sql<{ deleted: number }[]>`
    with gone as (
      delete from ${sql(partition)} where ctid = any(array(
        select ctid from ${sql(partition)} where domain_number = any(${domains.map(({ number }) => number)}) limit ${batch}
      ))
      returning user_agent_number
    ),
    noted as (
      insert into user_agents_to_look_for (number)
      select distinct user_agent_number from gone where user_agent_number is not null order by 1
      on conflict (number) do update set noted_at = clock_timestamp()
    )
    select count(*)::int as deleted from gone`;
  return row?.deleted ?? 0;
}

const ofDomain = z.looseObject({ domainId: z.string() });

export async function* deleteRejections(db: Database, { domains }: DeletedOrganization): AsyncIterable<number> {
  const ids = new Set(domains.map(({ domainId }) => domainId));
  for (let after: number | undefined; ; ) {
    const page = await db.read((sql) => listRejected(sql, { limit: batch, after }));
    const theirs = page.flatMap(({ id, record }) => {
      const read = ofDomain.safeParse(JSON.parse(record));
      return read.success && ids.has(read.data.domainId) ? [id] : [];
    });
    if (theirs.length > 0) await db.write((sql) => deleteRejected(sql, theirs));
    yield theirs.length;
    after = page.at(-1)?.id;
    if (page.length < batch) return;
  }
}
