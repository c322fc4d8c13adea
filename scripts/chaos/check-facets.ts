/** Checks the promise I9: what is derived from records has each of them once. */
import type { ChaosStack } from './stack.ts';

/** How many records are stored in epochs whose facets are not derived yet. */
export async function countUnderived(stack: ChaosStack): Promise<number> {
  const [row] = await stack.sql(
    (sql) => sql<{ n: number }[]>`
      select count(*)::int as n from records
      where epoch > coalesce((select epoch from derivations where name = 'facets'), 0)`,
  );
  return row?.n ?? 0;
}

/** At how many domains or organizations and days or months the facets add up to something else than the counters. */
export async function countFacetDifferences(stack: ChaosStack): Promise<number> {
  const [row] = await stack.sql(
    (sql) => sql<{ n: number }[]>`
      with facet_sums as (
        select o.id as organization_id, coalesce(d.id, '') as domain_id, period, sum(accept_all) as accept_all,
          sum(reject_all) as reject_all, sum(custom) as custom, sum(withdraw) as withdraw
        from facets
        join organizations o on o.number = organization_number
        left join domains d on d.number = domain_number
        where dimension in ('source', 'crawlers')
        group by 1, 2, 3
      )
      select count(*)::int as n
      from counters c full join facet_sums f using (organization_id, domain_id, period)
      where (c.accept_all, c.reject_all, c.custom, c.withdraw)
        is distinct from (f.accept_all, f.reject_all, f.custom, f.withdraw)`,
  );
  return row?.n ?? 0;
}
