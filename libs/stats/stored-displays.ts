/** Banners shown, as API processes count them: stored once however often a flush is tried. */

import type { Database } from '#libs/base/db/database';
import { earlierNow } from '#libs/base/db/postgres-time';

/** How often banners were shown on a domain in one UTC day; '' for a value that there is not. */
export interface Displays {
  domainId: string;
  /** `YYYY-MM-DD` */
  day: string;
  bannerVersion: string;
  variant: string;
  language: string;
  displays: number;
}

export interface Flush {
  /** a UUID, the same for every try */
  id: string;
  rows: Displays[];
}

/** Rejects where nothing was stored, or where that is unknown: try again with the same flush. Deleted domains are left out. */
export async function storeDisplays(db: Database, { id, rows }: Flush): Promise<void> {
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

/** Those that nobody tries any more, also after days without Postgres. Returns how many. */
export async function deleteOldFlushes(db: Database, here = new Date()): Promise<number> {
  const { count } = await db.write(
    (sql) => sql`delete from display_flushes where stored_at < ${earlierNow(sql, here)} - interval '8 days'`,
  );
  return count;
}
