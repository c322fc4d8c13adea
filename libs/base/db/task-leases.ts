/**
 * Leases of tasks that one process at a time runs, by the clock of Postgres. The process that runs a task renews its lease;
 * once it dies or hangs, the lease ends and another process takes the task.
 */
import { randomUUID } from 'node:crypto';
import type { TaskLeases } from '../scheduler.ts';
import type { Database, Sql } from './database.ts';
import { fromNow, hasPassed } from './postgres-time.ts';

/** Milliseconds: longer than any lease. */
const longestLease = 60_000;

interface Request {
  name: string;
  /** null: this process is running it */
  pace: number | null;
}

/** The leases of one process. Times are milliseconds. */
export function createTaskLeases(db: Database): TaskLeases {
  const holder = randomUUID();
  const add = (names: string[]) =>
    db.write((sql) => sql`insert into tasks (name) select unnest(${names}::text[]) on conflict do nothing`);
  return {
    claim: async (held, wanted, lease) => {
      const requests = [...held.map((name) => ({ name, pace: null })), ...wanted];
      if (requests.length === 0) return [];
      const ask = () => db.write((sql) => claim(sql, holder, requests, lease));
      const known = await ask();
      // new with this release, or missing in a restored database
      const missing = wanted.filter(({ name }) => !known.some((each) => each.name === name));
      if (missing.length > 0) await add(missing.map(({ name }) => name));
      const tasks = missing.length > 0 ? [...known, ...(await ask())] : known;
      return [...new Set(tasks.flatMap(({ name, isOwn }) => (isOwn ? [name] : [])))];
    },
    release: async (name, { succeeded, wait }) => {
      await db.write(
        (sql) => sql`
          update tasks set holder = null, leased_until = null,
            due_at = case when due_at = 'infinity' then ${fromNow(sql, wait)} else due_at end,
            succeeded_at = case when ${succeeded} then clock_timestamp() else succeeded_at end
          where name = ${name} and holder = ${holder}::uuid`,
      );
    },
    makeDue: async (name) => {
      await db.write((sql) => sql`update tasks set due_at = clock_timestamp() where name = ${name}`);
    },
  };
}

/**
 * A claim sets `due_at` to `infinity`. If it has another value when the task ends, `makeDue` was called meanwhile. A
 * `due_at` further ahead than the pace counts as due, so once the lease ends another process can take the task. If the
 * response to a claim was lost, the same process can claim again.
 */
const claim = (sql: Sql, holder: string, requests: Request[], lease: number) => sql<{ name: string; isOwn: boolean }[]>`
  with asked as (
    select * from json_to_recordset(${JSON.stringify(requests)}::text::json) as a (name text, pace float8)
  ),
  own as materialized (
    select tasks.name, asked.pace from tasks join asked using (name)
    where case
      when asked.pace is null then holder = ${holder}::uuid
      else (holder is null or holder = ${holder}::uuid or ${hasPassed(sql, sql`leased_until`, longestLease)})
        and (due_at <= statement_timestamp() or due_at > statement_timestamp() + asked.pace * interval '1 ms')
    end
    order by tasks.name for update of tasks skip locked
  ),
  taken as (
    update tasks set holder = ${holder}::uuid, leased_until = ${fromNow(sql, lease)},
      due_at = case when own.pace is null then due_at else 'infinity' end,
      succeeded_at = least(succeeded_at, clock_timestamp())
    from own where tasks.name = own.name
    returning tasks.name
  )
  select tasks.name, taken.name is not null as "isOwn"
  from asked join tasks using (name) left join taken using (name)`;

/** Unix seconds of each task's last success; before its first success, of when the task was added. */
export const lastSuccesses = (sql: Sql, names: string[]) => sql`
  select coalesce(json_object_agg(name, extract(epoch from least(succeeded_at, clock_timestamp()))), '{}')
  from tasks where name = any(${names}::text[])`;
