/** PERSONAL_RETENTION_MONTHS: months whose records lose their personal fields, in batches that nobody feels. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isPastRetention } from '#libs/contract/retention';
import { blankMonth, hasPersonal, listMonthsWithPersonal } from '#libs/store/privacy/personal-retention';
import { noteDueMonths, type Round } from '#libs/store/records/due-months';
import type { Database } from '#libs/store/sql';

/** milliseconds between two batches */
const pause = 20;

export interface Blanked {
  records: number;
  /** the months that this round found due first */
  found: string[];
}

/**
 * Blanks the months that enough rounds have found due. A month that fails keeps no later one waiting. `now`: Postgres' time
 * in Unix milliseconds.
 */
export async function blankOldMonths(
  db: Database,
  { personalRetentionMonths, round }: { personalRetentionMonths: number; round: Round },
  now: number,
  signal: AbortSignal,
): Promise<Blanked> {
  const months = await db.run(listMonthsWithPersonal);
  const due = months.map(({ month }) => month).filter((month) => isPastRetention(month, personalRetentionMonths, now));
  const { ready, found } = await noteDueMonths(db, 'blank', due, round);
  let records = 0;
  const failures: unknown[] = [];
  for (const { month, blankedThrough } of months.filter(({ month }) => ready.includes(month))) {
    if (signal.aborted) break;
    try {
      if (!(await db.run((sql) => hasPersonal(sql, month, blankedThrough)))) continue;
      records += await blankMonth(db, month, { pause: () => sleep(pause), signal });
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return { records, found };
}
