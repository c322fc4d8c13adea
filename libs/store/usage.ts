/** How many of its plan's records an organization has used in a month. Crawlers' do not count. */
import type { Sql } from './sql.ts';

export interface Usage {
  /** records of the month, without crawlers' */
  used: number;
  /** crawlers', as far as epochs are closed: one that is not known as such yet counts until then */
  bots: number;
}

/** `month`: `YYYY-MM`, UTC. */
export async function readUsage(sql: Sql, organizationId: string, month: string): Promise<Usage> {
  const [row] = await sql<Usage[]>`
    select ${usedIn(sql, sql`organizations`, sql`${month}`)} as used, ${botsIn(sql, sql`organizations`, sql`${month}`)} as bots
    from organizations where id = ${organizationId}`;
  return row ?? { used: 0, bots: 0 };
}

type Expression = ReturnType<Sql>;

/** The same as an expression. `organization`: the row of `organizations`; `month`: text. */
export const usedIn = (sql: Sql, organization: Expression, month: Expression) => sql`
  greatest(0, coalesce(
    (
      select accept_all + reject_all + custom + withdraw from counters
      where organization_id = ${organization}.id and domain_id = '' and period = ${month}
    ), 0) - ${botsIn(sql, organization, month)})`;

const botsIn = (sql: Sql, organization: Expression, month: Expression) => sql`
  coalesce(
    (
      select sum(accept_all + reject_all + custom + withdraw)::bigint from facets
      where organization_number = ${organization}.number and domain_number = 0 and dimension = 'crawlers'
        and period = ${month}
    ), 0)`;
