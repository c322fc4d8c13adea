/**
 * Adds counts to facets. A domain, and likewise an organization, has at most `ownRows` values per dimension and day. All
 * others are summed, so made-up values cost nothing. A value seen in the last `heldFor` days keeps its row unless a newcomer
 * has more than `outdoing` times its records.
 */
import type { Sql } from '#libs/base/db/database';

/** values of a domain, dimension and UTC day that have a row of their own */
const ownRows = 200;
/** days for which a value keeps its row without appearing again */
const heldFor = 30;
/** a newcomer takes a value's reserved row if it has more than this many times the value's records of those days */
const outdoing = 10;

/** SQL text between `with` and a statement. */
type Fragment = ReturnType<Sql['unsafe']>;

const counts = ['accept_all', 'reject_all', 'custom', 'withdraw', 'choices', 'opt_ins', 'answers', 'objections'];
/** null where a dimension has none */
const others = ['allowed', 'denied', 'displays'];
const key = ['organization_number', 'domain_number', 'dimension', 'period', 'value', 'is_other'];

const all = [...counts, ...others];
const list = (names: string[], write = (name: string) => name): string => names.map(write).join(', ');
const records = `accept_all + reject_all + custom + withdraw
  + coalesce(allowed, 0) + coalesce(denied, 0) + coalesce(displays, 0)`;
const sums = list(all, (name) => `sum(${name}) as ${name}`);
const added = [
  ...counts.map((name) => `${name} = f.${name} + excluded.${name}`),
  ...others.map((name) => `${name} = coalesce(f.${name} + excluded.${name}, f.${name}, excluded.${name})`),
].join(', ');

/**
 * `counted`: common table expressions, the last of them `counted (domain_number, dimension, day, value, …)` with all
 * counts, each key once; `value` '' for none. One at a time: the caller holds the mark of the facets. Returns how many
 * rows were touched.
 */
export async function addFacets(sql: Sql, counted: Fragment): Promise<number> {
  const text = (of: string) => sql.unsafe(of);
  const { count } = await sql`
    with ${counted},
    of_domains as materialized (
      select organizations.number as organization_number, c.*
      from counted c
      join domains on domains.number = domain_number
      join organizations on organizations.id = domains.organization_id
    ),
    wanted as materialized (
      select organization_number, domain_number, dimension, day, value, ${text(list(all))} from of_domains
      union all
      select organization_number, 0, dimension, day, value, ${text(sums)} from of_domains group by 1, 3, 4, 5
    ),
    lacking as materialized (
      select w.organization_number, w.domain_number, w.dimension, day, value, ${text(records)} as records
      from wanted w
      left join lateral (
        select true as is_there from facets f
        where f.organization_number = w.organization_number and f.domain_number = w.domain_number
          and f.dimension = w.dimension and f.period = w.day and f.value = w.value and not f.is_other
        limit 1
      ) as placed on true
      where value <> '' and is_there is null
    ),
    candidates as (
      select
        organization_number, domain_number, dimension, day, value, coalesce(is_placed, false) as is_placed,
        known.value is not null as is_held, lacking.value is not null as comes,
        ${outdoing} * coalesce(known.records, 0) + coalesce(lacking.records, 0) as weight
      from (
        select contested.*, held.*
        from (select distinct organization_number, domain_number, dimension, day from lacking) as contested
        cross join lateral (
          select value, bool_or(period = day) as is_placed, sum(${text(records)}) as records
          from facets f
          where f.organization_number = contested.organization_number and f.domain_number = contested.domain_number
            and f.dimension = contested.dimension and value <> '' and not is_other and length(period) = 10
            and period between to_char(day::date - ${heldFor}::integer, 'YYYY-MM-DD') and day
          group by value
        ) as held
      ) as known
      full join lacking using (organization_number, domain_number, dimension, day, value)
    ),
    admitted as (
      select organization_number, domain_number, dimension, day, value, true as is_admitted
      from (
        select *, row_number() over (
          partition by organization_number, domain_number, dimension, day
          order by is_placed desc, weight desc, is_held desc, value
        ) as place
        from candidates
      ) as ordered
      where comes and place <= ${ownRows}
    )
    insert into facets as f (${text(list([...key, ...all]))})
    select
      organization_number, domain_number, dimension, level.period, case when is_own then value else '' end, not is_own,
      ${text(sums)}
    from wanted
    left join lacking using (organization_number, domain_number, dimension, day, value)
    left join admitted using (organization_number, domain_number, dimension, day, value)
    cross join lateral (values (lacking.records is null or is_admitted is not null)) as own (is_own)
    cross join lateral (values (day), (left(day, 7))) as level (period)
    group by 1, 2, 3, 4, 5, 6
    order by 1, 2, 3, 4, 5, 6
    on conflict (${text(list(key))}) do update set ${text(added)}`;
  return count;
}
