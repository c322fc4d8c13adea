/** Reads facets. */

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
