/** Displays as API processes count them. A flush is stored once, however often it is retried. */

import type { Database } from '#libs/base/db/database';
import { earlierNow } from '#libs/base/db/postgres-time';

/** Displays on a domain in one UTC day; '' for an absent value. */
export interface Displays {
  domainId: string;
  /** `YYYY-MM-DD` */
  day: string;
  bannerVersion: string;
  variant: string;
  language: string;
  displays: number;
}

export interface DisplayBatch {
  /** a UUID, the same in every attempt */
  id: string;
  rows: Displays[];
}

/** Rejects if nothing was stored, or if that is unknown. Then retry with the same flush. Deleted domains are left out. */
export async function storeDisplays(db: Database, { id, rows }: DisplayBatch): Promise<void> {
  await db.write(
    (sql) => sql`
      with flush as (
        insert into display_flushes (flush) values (${id}) on conflict do nothing returning flush
      )
      insert into displays (domain_number, day, banner_version, variant, language, displays)
      select d.number, r.day, r."bannerVersion", r.variant, r.language, r.displays
      from flush
      cross join json_to_recordset(${JSON.stringify(rows)}::text::json) as r (
        "domainId" text, day text, "bannerVersion" text, variant text, language text, displays integer
      )
      join domains d on d.id = r."domainId"
      order by d.number`,
  );
}

/**
 * Deletes the ids of flushes older than 8 days: even if Postgres was down for days, nobody retries them any more. Returns
 * how many.
 */
export async function deleteOldFlushes(db: Database, here = new Date()): Promise<number> {
  const { count } = await db.write(
    (sql) => sql`delete from display_flushes where stored_at < ${earlierNow(sql, here)} - interval '8 days'`,
  );
  return count;
}
