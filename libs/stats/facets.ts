/** Reads facets, and until when they are complete. */

import type { Sql } from '#libs/base/db/database';
import { type Breakdown, type Dimension, decisions } from '#libs/base/terms/terms';

/** What decisions of one value add up to, without crawlers'. */
export interface Facet extends Breakdown {
  dimension: Dimension | 'crawlers';
  /** '' for none */
  value: string;
  /** all values that have no row of their own */
  isOther: boolean;
  choices: number;
  optIns: number;
  /** choices made in a banner */
  answers: number;
  /** of a category only */
  allowed: number;
  denied: number;
  displays: number;
}

export interface FacetQuestion {
  organizationId: string;
  /** '' for the whole organization */
  domainId: string;
  dimensions: Facet['dimension'][];
  /** UTC days and months, none of which holds another */
  periods: string[];
}

export const readFacets = (sql: Sql, { organizationId, domainId, dimensions, periods }: FacetQuestion) => sql<Facet[]>`
  select
    dimension, value, is_other as "isOther", ${sql.unsafe(decisions.map((name) => `sum(${name})::bigint as ${name}`).join(', '))},
    sum(choices)::bigint as choices, sum(opt_ins)::bigint as "optIns", sum(answers)::bigint as answers,
    coalesce(sum(allowed), 0)::bigint as allowed, coalesce(sum(denied), 0)::bigint as denied,
    coalesce(sum(displays), 0)::bigint as displays
  from facets
  where organization_number = (select number from organizations where id = ${organizationId})
    and domain_number = case ${domainId}::text when '' then 0 else (select number from domains where id = ${domainId}) end
    and dimension = any (${dimensions}::text[]::dimension[]) and period = any (${periods}::text[])
  group by 1, 2, 3`;

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
