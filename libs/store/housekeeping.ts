/** When tasks of housekeeping last succeeded, whichever worker ran them. */
import type { Sql } from './sql.ts';

/** What is scheduled from now on: a task that is new counts as having succeeded now, one that no longer is is forgotten. */
export async function expectTasks(sql: Sql, tasks: string[]): Promise<void> {
  await sql`
    with gone as (delete from housekeeping_tasks where task <> all(${tasks}::text[]))
    insert into housekeeping_tasks (task) select unnest(${tasks}::text[])
    on conflict do nothing`;
}

/** One that was forgotten stays so: an older worker, which is about to end, may still run it. */
export async function noteSuccess(sql: Sql, task: string): Promise<void> {
  await sql`update housekeeping_tasks set succeeded_at = default where task = ${task}`;
}
