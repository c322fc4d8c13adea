/** The months of the log: made ahead, and dropped once they are past retention. */
import { addMonths, monthOf } from '#libs/contract/calendar';
import { isPastRetention } from '#libs/contract/retention';
import { expireMonth, isDerived } from '#libs/store/logs/expire';
import { noteDueMonths, type Round } from '#libs/store/records/due-months';
import { dropMonth, hideMonth, listHiddenMonths, listMonths, makeMonth } from '#libs/store/records/months';
import type { Database } from '#libs/store/sql';

const monthsAhead = 2;
/** Milliseconds for dropping a month: some statements, each with the worker's statement timeout. */
const patience = 30_000;

/** From last month to two months ahead. */
export async function makeMonths(db: Database, now: number): Promise<void> {
  for (let ahead = -1; ahead <= monthsAhead; ahead += 1) {
    await db.run((sql) => makeMonth(sql, addMonths(monthOf(now), ahead)));
  }
}

export interface Dropped {
  dropped: string[];
  /** those that this round found due first */
  found: string[];
  /** one that a reader keeps from being dropped. It no longer shows; the next round goes on with it */
  held?: string;
  /** one whose records a derivation is not done with */
  awaited?: string;
}

/**
 * Drops the months that enough rounds have found due. `derivations`: those that have to be done with a month's records.
 * `now`: Postgres' time in Unix milliseconds.
 */
export async function dropExpiredMonths(
  db: Database,
  { retentionMonths, derivations, round }: { retentionMonths: number; derivations: string[]; round: Round },
  now: number,
): Promise<Dropped> {
  const expired = (await db.run(listMonths)).filter((month) => isPastRetention(month, retentionMonths, now));
  const { ready, found } = await noteDueMonths(db, 'drop', expired, round);
  const dropped: string[] = [];
  for (const month of [...(await db.run(listHiddenMonths)), ...ready]) {
    if (!(await db.run((sql) => isDerived(sql, month, derivations)))) return { dropped, found, awaited: month };
    await db.run((sql) => hideMonth(sql, month));
    await expireMonth(db, month);
    if (!(await db.run((sql) => dropMonth(sql, month), patience))) return { dropped, found, held: month };
    dropped.push(month);
  }
  return { dropped, found };
}
