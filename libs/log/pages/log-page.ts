/** A page of the log. */

import { type Row, toRecord } from '#libs/proof/positions';
import type { FullRecord } from '#libs/record/contract';

export interface LogPage {
  total: number;
  /** up to `limit` */
  records: FullRecord[];
  /** whether older ones follow */
  more: boolean;
}

/** `rows`: one more than `limit` if older records follow. */
export function toPage(total: number, rows: Row[], limit: number): LogPage {
  const found = rows.filter((row) => row.id !== null);
  return { total, records: found.slice(0, limit).map(toRecord), more: found.length > limit };
}
