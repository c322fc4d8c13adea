/** Finds the entries of records that retention dropped. */

import type { Database } from '#libs/base/db/database';
import { addMonths, lowestIdAt, monthOf, startOf, timeOf } from '#libs/base/terms/calendar';
import { listDroppedMonths } from '#libs/record/month-partitions';

export interface Expiry {
  /** whether any month was dropped */
  isAny: boolean;
  /** whether the record with this id was dropped */
  isExpired(id: string): boolean;
  /** the lowest id after all dropped ones */
  since: string;
}

export async function readExpiry(db: Database): Promise<Expiry> {
  const months = await db.read(listDroppedMonths);
  const dropped = new Set(months);
  const last = months.at(-1);
  return {
    isAny: dropped.size > 0,
    isExpired: (id) => dropped.has(monthOf(timeOf(id))),
    since: lowestIdAt(last === undefined ? 0 : startOf(`${addMonths(last, 1)}-01`)),
  };
}
