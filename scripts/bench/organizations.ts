/** Many organizations that have recorded for long: their counters alone, since nothing else is read of them. */
import type { Stack } from './stack.ts';

interface Wanted {
  /** of their ids, as in `org_many_1` and its first domain's, `dom_many_1_1` */
  name: string;
  organizations: number;
  /** of each */
  domains: number;
  /** days and months, of each domain and of all domains of the organization */
  periods: string[];
  /** in which the counters were made, as in `order by` */
  order: string;
}

/** Those that are there already stay as they are. */
export const makeOrganizations = ({ db }: Stack, { name, organizations, domains, periods, order }: Wanted) =>
  db.write(
    (sql) => sql`
      with made as materialized (
        select concat('org_', ${name}::text, '_', n) as organization, concat('dom_', ${name}::text, '_', n, '_', d) as domain
        from generate_series(1, ${organizations}::int) n, generate_series(1, ${domains}::int) d
      ),
      organizations_made as (
        insert into organizations (id, name, plan)
        select distinct organization, 'One of many', (select name from plans limit 1) from made on conflict do nothing
      ),
      domains_made as (
        insert into domains (id, organization_id, name) select domain, organization, domain from made on conflict do nothing
      )
      insert into counters (organization_id, domain_id, period, accept_all, reject_all, custom, withdraw)
      select organization, domain, period, 6172, 3950, 1728, 493
      from (select * from made union select organization, '' from made) places, unnest(${periods}::text[]) period
      order by ${sql.unsafe(order)}
      on conflict do nothing`,
  );
