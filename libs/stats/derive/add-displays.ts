/** Facets of displays: what API processes have counted since the last time. */
import type { Sql } from '#libs/base/db/database';
import { addFacets } from './add-facets.ts';

/** The highest number in `displays`, whose rows wait to be added to the facets; null if there are none. */
export async function newestDisplays(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ newest: number | null }[]>`select max(number) as newest from displays`;
  return row?.newest ?? null;
}

/**
 * Moves up to `limit` of the oldest displays up to `newest` into the facets. Their total is counted under the dimension
 * `source`, value `banner`. Returns whether there were any.
 */
export async function addFacetsOfDisplays(sql: Sql, newest: number, limit: number): Promise<boolean> {
  const rows = await addFacets(
    sql,
    sql`
    taken as (
      delete from displays
      where number in (select number from displays where number <= ${newest} order by number limit ${limit})
      returning displays.*
    ),
    counted as (
      select
        domain_number, day, dimension, value, 0 as accept_all, 0 as reject_all, 0 as custom, 0 as withdraw, 0 as choices,
        0 as opt_ins, 0 as answers, 0 as objections, null::bigint as allowed, null::bigint as denied, sum(displays) as displays
      from taken
      cross join lateral (
        values ('bannerVersion'::dimension, banner_version), ('variant', variant), ('language', language),
          ('source', 'banner')
      ) as shown (dimension, value)
      group by 1, 2, 3, 4
    )`,
  );
  return rows > 0;
}
