/** PERSONAL_RETENTION_MONTHS: months whose records lose their personal fields, in batches that nobody feels. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isPastRetention } from '#libs/contract/retention';
import { blankMonth, hasPersonal, listMonthsWithPersonal } from '#libs/store/privacy/personal-retention';
import type { Database } from '#libs/store/sql';

/** milliseconds between two batches */
const pause = 20;

/** Returns how many records were blanked. A month that fails keeps no later one waiting. */
export async function blankOldMonths(
  db: Database,
  personalRetentionMonths: number,
  now: number,
  signal: AbortSignal,
): Promise<number> {
  let blanked = 0;
  const failures: unknown[] = [];
  for (const { month, blankedThrough } of await db.run(listMonthsWithPersonal)) {
    if (signal.aborted || !isPastRetention(month, personalRetentionMonths, now)) break;
    try {
      if (!(await db.run((sql) => hasPersonal(sql, month, blankedThrough)))) continue;
      blanked += await blankMonth(db, month, { pause: () => sleep(pause), signal });
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return blanked;
}
