/**
 * Turns of tasks that one process at a time runs: which are due, and who is at them, by the clock of Postgres. Whoever is at
 * one keeps it for a while and renews that; one that died or stands still leaves it to the others.
 */
import { randomUUID } from 'node:crypto';
import type { Turns } from '../scheduler.ts';
import type { Database, Sql } from './database.ts';
import { fromNow, hasPassed } from './postgres-time.ts';

/** Milliseconds: longer than any lease. */
const longestLease = 60_000;

interface Asked {
  name: string;
  /** null: this process is at it */
  pace: number | null;
}

/** Of one process. All times are milliseconds. */
export function createTurns(db: Database): Turns {
  const holder = randomUUID();
  const add = (names: string[]) =>
    db.write((sql) => sql`insert into tasks (name) select unnest(${names}::text[]) on conflict do nothing`);
  return {
    look: async (held, wanted, lease) => {
      const asked = [...held.map((name) => ({ name, pace: null })), ...wanted];
      if (asked.length === 0) return [];
      const ask = () => db.write((sql) => take(sql, holder, asked, lease));
      const known = await ask();
      // new with this release, or lost with what a restored database lacks
      const missing = wanted.filter(({ name }) => !known.some((each) => each.name === name));
      if (missing.length > 0) await add(missing.map(({ name }) => name));
      const answer = missing.length > 0 ? [...known, ...(await ask())] : known;
      return [...new Set(answer.flatMap(({ name, isOwn }) => (isOwn ? [name] : [])))];
    },
    end: async (name, { succeeded, wait }) => {
      await db.write(
        (sql) => sql`
          update tasks set holder = null, leased_until = null,
            due_at = case when due_at = 'infinity' then ${fromNow(sql, wait)} else due_at end,
            succeeded_at = case when ${succeeded} then clock_timestamp() else succeeded_at end
          where name = ${name} and holder = ${holder}::uuid`,
      );
    },
    tell: async (name) => {
      await db.write((sql) => sql`update tasks set due_at = clock_timestamp() where name = ${name}`);
    },
  };
}

/**
 * Whoever takes one sets `infinity`, so that it is seen whether it was told to come again meanwhile. That is later than any
 * task's pace: once the lease is over, it is due. What this process took without having heard of it is its own.
 */
const take = (sql: Sql, holder: string, asked: Asked[], lease: number) => sql<{ name: string; isOwn: boolean }[]>`
  with asked as (
    select * from json_to_recordset(${JSON.stringify(asked)}::text::json) as a (name text, pace float8)
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

/** Unix seconds of the last success of each of these tasks, or of when it was first scheduled. */
export const lastSuccesses = (sql: Sql, names: string[]) => sql`
  select coalesce(json_object_agg(name, extract(epoch from least(succeeded_at, clock_timestamp()))), '{}')
  from tasks where name = any(${names}::text[])`;
