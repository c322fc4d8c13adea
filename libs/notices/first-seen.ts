/** Notices as the log says them, by number. */
import type { Sql } from '#libs/base/db/database';

export interface SeenNotice {
  number: number;
  /** its hash, 64 hex digits */
  notice: string;
  /** RFC 3339, UTC, with milliseconds */
  firstSeenAt: string;
}

export async function findSeenNotices(sql: Sql, numbers: number[]): Promise<Map<number, SeenNotice>> {
  if (numbers.length === 0) return new Map();
  const rows = await sql<SeenNotice[]>`
    select number, encode(hash, 'hex') as notice,
      to_char(first_seen_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "firstSeenAt"
    from notices where number = any(${numbers})`;
  return new Map(rows.map((row) => [row.number, row]));
}
