/** User agents of erased records: a text that no other record names goes with them. */
import { lastClosedEpoch } from '../epochs/epochs.ts';
import type { Database, Sql } from '../sql.ts';

/** records that are looked at in one statement */
const pageSize = 20_000;
const nil = '00000000-0000-0000-0000-000000000000';

interface Noted {
  number: number;
  /** as Postgres writes it: a Date would lose microseconds */
  notedAt: string;
}

/**
 * Looks for records that name the noted ones, and deletes those that none does. In pieces by key, since no index has them:
 * a text that others have is found at once, one that nobody has only at the end.
 */
export async function deleteUnnamedUserAgents(db: Database): Promise<number> {
  const noted = await db.run(
    (sql) => sql<Noted[]>`
      select number, noted_at::text as "notedAt" from user_agents_to_look_for order by noted_at limit 1000`,
  );
  if (noted.length === 0) return 0;
  const numbers = noted.map(({ number }) => number);
  const since = (await db.run(lastClosedEpoch)) + 1;
  const left = await findUnnamed(db, numbers);
  let unnamed: number[] = [];
  await db.run((sql) =>
    sql.begin(async (transaction) => {
      // until this ends the open epoch stays open: what names a text meanwhile is sealed after it has gone, without it
      await transaction`select open_epoch()`;
      const named = await transaction<{ number: number }[]>`
        select distinct user_agent_number as number from records
        where epoch >= ${since} and user_agent_number = any(${left})`;
      const found = new Set(named.map(({ number }) => number));
      unnamed = left.filter((number) => !found.has(number));
      await transaction`delete from user_agent_months where number = any(${unnamed})`;
      await transaction`delete from user_agents where number = any(${unnamed})`;
      // but those that were noted again: a record that was found to name one may have been blanked since
      await transaction`
        delete from user_agents_to_look_for where number in (
          select number from user_agents_to_look_for
          join json_to_recordset(${JSON.stringify(noted)}::text::json) as looked (number integer, "notedAt" timestamptz)
            using (number)
          where noted_at = "notedAt" order by number for update of user_agents_to_look_for
        )`;
    }),
  );
  return unnamed.length;
}

async function findUnnamed(db: Database, numbers: number[]): Promise<number[]> {
  const left = new Set(numbers);
  let after: { domainNumber: number; id: string } | null = { domainNumber: 0, id: nil };
  while (after && left.size > 0) {
    const from: { domainNumber: number; id: string } = after;
    const [page] = await db.run((sql) => look(sql, [...left], from));
    for (const number of page?.named ?? []) left.delete(number);
    after = page?.last ?? null;
  }
  return [...left];
}

const look = (sql: Sql, numbers: number[], { domainNumber, id }: { domainNumber: number; id: string }) => sql<
  { named: number[]; last: { domainNumber: number; id: string } | null }[]
>`
  with page as materialized (
    select domain_number, id, user_agent_number from records
    where (domain_number, id) > (${domainNumber}::integer, ${id}::uuid)
    order by domain_number, id limit ${pageSize}
  )
  select
    (
      select coalesce(json_agg(distinct user_agent_number), '[]') from page where user_agent_number = any(${numbers})
    ) as named,
    (
      select json_build_object('domainNumber', domain_number, 'id', id) from page
      order by domain_number desc, id desc limit 1
    ) as last`;
