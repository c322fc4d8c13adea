/**
 * Months that are due to be dropped, or to lose their personal fields, which cannot be undone. The clocks of one round may
 * be wrong, so a month is ready only after enough rounds have found it due.
 */
import { type Clock, trustedAfter } from '#libs/base/db/clock';
import type { Database } from '#libs/base/db/database';

export type Act = 'drop' | 'blank';

/** How many hourly rounds have to find a month due. */
export const roundsNeeded = 20;
/** Milliseconds between two rounds that count, in any worker: less than an hour, because timers are not exact. */
const roundEvery = 50 * 60 * 1_000;

export interface Round {
  /** Whether this round counts: only if the clocks have been steady for `trustedAfter`. */
  counts: boolean;
  /** Milliseconds since Postgres' clock jumped, which restarts the count; null if no jump was seen. */
  sinceJump: number | null;
  /** milliseconds */
  every: number;
  needed: number;
}

/**
 * The round that begins now, an hour after the last. The caller has just measured the clock, and it agrees with Postgres'.
 */
export const hourlyRound = (clock: Pick<Clock, 'steadyFor' | 'sinceJump'>): Round => ({
  counts: clock.steadyFor() >= trustedAfter,
  sinceJump: clock.sinceJump(),
  every: roundEvery,
  needed: roundsNeeded,
});

interface DueMonths {
  /** those that enough rounds found due */
  ready: string[];
  /** those that no round before found due */
  found: string[];
}

/** Notes the months, in any order, that a round found due; all others are no longer due. The lists are oldest first. */
export async function noteDueMonths(
  db: Database,
  act: Act,
  due: string[],
  { counts, sinceJump, every, needed }: Round,
): Promise<DueMonths> {
  const rounds = act === 'drop' ? 'drop_rounds' : 'blank_rounds';
  const roundAt = act === 'drop' ? 'drop_round_at' : 'blank_round_at';
  const noted = await db.write(
    (sql) => sql<{ month: string; isDue: boolean; isFound: boolean; rounds: number }[]>`
      with before as (
        select month, month = any(${due}::text[]) as is_due, ${sql(rounds)} as rounds, ${sql(roundAt)} as round_at,
          clock_timestamp() as now
        from record_months
        where dropped_at is null and (month = any(${due}::text[]) or ${sql(roundAt)} is not null)
        order by month for update
      ), judged as (
        select *,
          round_at is null or round_at > now
            or coalesce(round_at < now - ${sinceJump}::float8 * interval '1 ms', false) as begins,
          ${counts}::boolean and (round_at is null or round_at <= now - ${every}::float8 * interval '1 ms') as is_next
        from before
      ), after as (
        select month, is_due, is_due and round_at is null as is_found,
          case
            when not is_due then 0
            when begins then ${counts}::boolean::int
            when is_next then least(rounds + 1, ${needed}::int)
            else rounds
          end as rounds,
          case when not is_due then null when begins or is_next then now else round_at end as round_at
        from judged
      )
      update record_months set ${sql(rounds)} = after.rounds, ${sql(roundAt)} = after.round_at
      from after where record_months.month = after.month
      returning record_months.month, is_due as "isDue", is_found as "isFound", after.rounds`,
  );
  const months = noted.filter(({ isDue }) => isDue).sort((a, b) => (a.month < b.month ? -1 : 1));
  return {
    ready: months.filter((each) => counts && each.rounds >= needed).map(({ month }) => month),
    found: months.filter(({ isFound }) => isFound).map(({ month }) => month),
  };
}
