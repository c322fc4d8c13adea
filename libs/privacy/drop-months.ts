/**
 * Retention: drops months of records that are past it, with their visitor counters and their ids and secrets in the logs.
 */

import type { Database } from '#libs/base/db/database';
import { isPastRetention } from '#libs/base/terms/retention';
import { expireMonth, isDerived } from '#libs/proof/expire';
import { forgetVisitorsOf } from '#libs/record/busy-visitors';
import { noteDueMonths, type Round } from '#libs/record/due-months';
import { dropMonth, hideMonth, listDroppedMonths, listHiddenMonths, listMonths } from '#libs/record/month-partitions';

/** Milliseconds for dropping a month: some statements, each with the worker's statement timeout. */
const patience = 30_000;

interface Dropped {
  dropped: string[];
  /** months that no earlier round had found due */
  found: string[];
  /** one that a reader keeps from being dropped. It no longer shows; the next round goes on with it */
  hidden?: string;
  /** a due month that is kept because a derivation has not handled all of its records yet */
  awaited?: string;
}

/**
 * Drops the months that enough rounds have found due. `derivations`: a month is dropped only after these have handled all
 * of its records. `now`: Postgres' time in Unix milliseconds.
 */
export async function dropExpiredMonths(
  db: Database,
  { retentionMonths, derivations, round }: { retentionMonths: number; derivations: string[]; round: Round },
  now: number,
): Promise<Dropped> {
  // visitors may have been counted while a month was being dropped: delete those counters
  const before = await db.read(listDroppedMonths);
  if (before.length > 0) await db.write((sql) => forgetVisitorsOf(sql, before));
  const expired = (await db.read(listMonths)).filter((month) => isPastRetention(month, retentionMonths, now));
  const { ready, found } = await noteDueMonths(db, 'drop', expired, round);
  const dropped: string[] = [];
  for (const month of [...(await db.read(listHiddenMonths)), ...ready]) {
    if (!(await isDerived(db, month, derivations))) return { dropped, found, awaited: month };
    if (!(await forgetMonth(db, month))) return { dropped, found, hidden: month };
    dropped.push(month);
  }
  return { dropped, found };
}

/** False where a reader keeps the month's records from being dropped: they no longer show, and the next call goes on. */
export async function forgetMonth(db: Database, month: string): Promise<boolean> {
  await db.transaction(async (sql) => {
    await hideMonth(sql, month);
    await forgetVisitorsOf(sql, [month]);
  });
  await expireMonth(db, month);
  return db.run((sql) => dropMonth(sql, month), patience);
}
