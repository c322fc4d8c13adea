/** Until when facets are complete. */
import type { Sql } from '#libs/base/db/database';

/** of their derivation */
export const facetsName = 'facets';

export interface Through {
  epoch: number;
  /** when that epoch was closed; null before the first */
  at: Date | null;
}

/** What was stored before then is in the facets. */
export async function facetsThrough(sql: Sql): Promise<Through> {
  const [row] = await sql<Through[]>`
    select epoch, (select closed_at from closed_epochs c where c.epoch <= d.epoch order by c.epoch desc limit 1) as at
    from derivations d where name = ${facetsName}`;
  return row ?? { epoch: 0, at: null };
}
