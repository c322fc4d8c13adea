/** User agents go with the last month whose records name them. */

import type { Database, Sql } from '#libs/base/db/database';
import { inTransaction } from '#libs/base/db/snapshot';
import { holdEpoch } from './epochs.ts';
import { hasPersonal, listMonthsWithPersonal } from './months.ts';

/** texts that are deleted in one statement */
const slice = 10_000;

/** Of a month whose records name none any more; those that no other month has are deleted an hour later. */
export const forgetUserAgentsOf = (sql: Sql, month: string) =>
  sql`delete from user_agent_months where month = ${month}`;

/** Deletes those that no record names any more, since all their months are dropped or blanked. Returns how many. */
export async function deleteUnusedUserAgents(db: Database): Promise<number> {
  await db.run(
    (sql) => sql`
      delete from user_agent_months where month in (select month from record_months where dropped_at is not null)`,
  );
  let deleted = 0;
  for (let last = slice; last === slice; deleted += last) {
    last = await inTransaction(db, deleteSome);
  }
  return deleted;
}

async function deleteSome(sql: Sql): Promise<number> {
  // what names a text meanwhile is sealed after it has gone, without it
  if (!(await holdEpoch(sql))) return 0;
  const unused = sql`
    select number from user_agents a
    where not exists (select from user_agent_months m where m.number = a.number) limit ${slice}`;
  if (!(await hasLateRecords(sql))) {
    return (await sql`delete from user_agents where number in (${unused})`).count;
  }
  // a process still remembered them for the month, and stored them after it was blanked: they are looked for
  await sql`insert into user_agents_to_look_for (number) ${unused} on conflict do nothing`;
  return 0;
}

async function hasLateRecords(sql: Sql): Promise<boolean> {
  for (const { month, blankedThrough } of await listMonthsWithPersonal(sql)) {
    if (blankedThrough > 0 && (await hasPersonal(sql, month, blankedThrough))) return true;
  }
  return false;
}
