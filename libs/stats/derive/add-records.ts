/** Facets of records: what a piece of closed epochs adds to them. */
import type { Sql } from '#libs/base/db/database';
import { type Records, recordsIn } from '#libs/epochs/slices';
import { addFacets } from './add-facets.ts';

/**
 * Adds the piece's records. Each is read once and grouped by all dimensions at once. What is counted apart is packed into
 * one number, its kind, so that a group has one count: 128 under a model that asks nobody first + 64 for a crawler
 * + 8 × source + 2 × decision + 1 for an opt-in. Of region and model only values are counted: all other records have none.
 */
export const addRecords = (sql: Sql, records: Records): Promise<number> =>
  addFacets(
    sql,
    sql`
    kinds as materialized (
      select
        kind, kind & 64 > 0 as crawler, (enum_range(null::source))[(kind >> 3 & 7) + 1] as source,
        kind >> 1 & 3 as decision, kind < 128 as is_asked,
        kind < 128 and (kind >> 3 & 7) < 3 and (kind >> 1 & 3) < 3 as is_choice, kind & 1 = 1 as is_opt_in
      from generate_series(0, 255) as kind
    ),
    grouped as materialized (
      select
        domain_number, day, kind, country, language, banner_version, policy_version, variant, user_agent_number,
        preferences, region, model,
        grouping(
          region, model, country, language, banner_version, policy_version, variant, user_agent_number, preferences
        ) as without,
        count(*) as records
      from (
        select
          domain_number, milliseconds_of(id) / 86400000 as day, country, language, banner_version, policy_version,
          variant, coalesce(user_agent_number, user_agent_family) as user_agent_number, preferences,
          region, model,
          case when model in ('opt_out', 'none') then 128 else 0 end
            + case when bot then 64 else 0 end
            + case source
                when 'banner' then 0 when 'preferences' then 8 when 'gpc' then 16 when 'api' then 24 when 'import' then 32
              end
            + case decision
                when 'accept_all' then 1 when 'reject_all' then 2 when 'withdraw' then 6
                when 'custom' then 4 + coalesce(
                  (preferences @? '$.keyvalue() ? (@.value == true && @.key != "necessary")')::int, 0)
              end as kind
        from ${recordsIn(sql, records)} as r
      ) as packed
      group by domain_number, day, kind, grouping sets (
        (region), (model),
        (country), (language), (banner_version), (policy_version), (variant), (user_agent_number), (preferences)
      )
    ),
    valued as (
      select domain_number, day, kind, 'country'::dimension as dimension, country as value, records
      from grouped where without = b'110111111'::int
      union all
      select domain_number, day, kind, 'language', language, records from grouped where without = b'111011111'::int
      union all
      select domain_number, day, kind, 'bannerVersion', banner_version, records
      from grouped where without = b'111101111'::int
      union all
      select domain_number, day, kind, 'policyVersion', policy_version, records
      from grouped where without = b'111110111'::int
      union all
      select domain_number, day, kind, 'variant', variant, records from grouped where without = b'111111011'::int
      union all
      select domain_number, day, kind, 'region', region, records
      from grouped where without = b'011111111'::int and region is not null
      union all
      select domain_number, day, kind, 'model', model, records
      from grouped where without = b'101111111'::int and model is not null
      union all
      select grouped.domain_number, day, kind, look.dimension, look.value, records
      from grouped
      left join user_agents on number = user_agent_number
      cross join lateral (
        values ('device'::dimension, case when device in ('desktop', 'mobile', 'tablet', 'tv') then device end),
          ('browser', browser), ('source', null)
      ) as look (dimension, value)
      where without = b'111111101'::int
    ),
    counted as (
      select
        domain_number, to_char(date '1970-01-01' + day::int, 'YYYY-MM-DD') as day,
        case when crawler then 'crawlers' else dimension end as dimension,
        case when crawler then '' when dimension = 'source' then source::text else coalesce(value, '') end as value,
        coalesce(sum(records) filter (where decision = 0), 0) as accept_all,
        coalesce(sum(records) filter (where decision = 1), 0) as reject_all,
        coalesce(sum(records) filter (where decision = 2), 0) as custom,
        coalesce(sum(records) filter (where decision = 3), 0) as withdraw,
        coalesce(sum(records) filter (where is_choice), 0) as choices,
        coalesce(sum(records) filter (where is_choice and is_opt_in), 0) as opt_ins,
        coalesce(sum(records) filter (where is_choice and source = 'banner'), 0) as answers,
        coalesce(sum(records) filter (where not is_asked and decision > 0), 0) as objections,
        null::bigint as allowed, null::bigint as denied, null::bigint as displays
      from valued join kinds using (kind)
      where not crawler or dimension = 'source'
      group by domain_number, valued.day, 3, 4
      union all
      select
        domain_number, to_char(date '1970-01-01' + day::int, 'YYYY-MM-DD'), 'category', key, 0, 0, 0, 0, 0, 0, 0, 0,
        coalesce(sum(records) filter (where allowed), 0), coalesce(sum(records) filter (where not allowed), 0), null
      from grouped
      join kinds using (kind)
      cross join lateral (select key, value = 'true' as allowed from jsonb_each(preferences)) as category
      where without = b'111111110'::int and not crawler and is_asked
      group by domain_number, grouped.day, key
    )`,
  );
