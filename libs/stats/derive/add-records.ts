/** Facets of records: what a slice of closed epochs adds to them. */
import type { Sql } from '#libs/base/db/database';
import { type RecordRange, recordsIn } from '#libs/epochs/slices';
import { addFacets } from './add-facets.ts';

/**
 * Reads each record once and groups it by all dimensions at once. For region and model, only records with a value are
 * counted, since most records have none.
 */
export const addFacetsOfRecords = (sql: Sql, records: RecordRange): Promise<number> =>
  addFacets(
    sql,
    sql`
    grouped as materialized (
      select
        domain_number, day, decision, source, bot, is_asked, is_opt_in, country, language, banner_version,
        policy_version, variant, region, model, user_agent_number, preferences,
        is_asked and source in ('banner', 'preferences', 'gpc') and decision <> 'withdraw' as is_choice,
        case 0
          when grouping(country) then 'country' when grouping(language) then 'language'
          when grouping(banner_version) then 'bannerVersion' when grouping(policy_version) then 'policyVersion'
          when grouping(variant) then 'variant' when grouping(region) then 'region' when grouping(model) then 'model'
          when grouping(user_agent_number) then 'userAgent' when grouping(preferences) then 'preferences'
        end as grouped_by,
        count(*) as records
      from (
        select
          domain_number, milliseconds_of(id) / 86400000 as day, decision, source, bot, country, language,
          banner_version, policy_version, variant, region, model, preferences,
          coalesce(user_agent_number, user_agent_family) as user_agent_number,
          coalesce(model not in ('opt_out', 'none'), true) as is_asked,
          decision = 'accept_all' or decision = 'custom' and coalesce(
            preferences @? '$.keyvalue() ? (@.value == true && @.key != "necessary")', false) as is_opt_in
        from ${recordsIn(sql, records)} as r
      ) as read
      group by domain_number, day, decision, source, bot, is_asked, is_opt_in, grouping sets (
        (country), (language), (banner_version), (policy_version), (variant), (region), (model),
        (user_agent_number), (preferences)
      )
    ),
    valued as (
      select
        grouped.domain_number, day, records, decision, source, bot, is_asked, is_opt_in, is_choice,
        grouped_by as dimension,
        -- all but the grouped one are null
        coalesce(country, language, banner_version, policy_version, variant, region, model) as value
      from grouped
      where grouped_by in ('country', 'language', 'bannerVersion', 'policyVersion', 'variant')
        or grouped_by in ('region', 'model') and coalesce(region, model) is not null
      union all
      select
        grouped.domain_number, day, records, decision, source, bot, is_asked, is_opt_in, is_choice,
        shown.dimension, shown.value
      from grouped
      left join user_agents on number = user_agent_number
      cross join lateral (
        values ('device', case when device in ('desktop', 'mobile', 'tablet', 'tv') then device end),
          ('browser', browser), ('source', source::text)
      ) as shown (dimension, value)
      where grouped_by = 'userAgent'
    ),
    counted as (
      select
        domain_number, to_char(date '1970-01-01' + day::int, 'YYYY-MM-DD') as day,
        (case when bot then 'crawlers' else dimension end)::dimension as dimension,
        case when bot then '' else coalesce(value, '') end as value,
        coalesce(sum(records) filter (where decision = 'accept_all'), 0) as accept_all,
        coalesce(sum(records) filter (where decision = 'reject_all'), 0) as reject_all,
        coalesce(sum(records) filter (where decision = 'custom'), 0) as custom,
        coalesce(sum(records) filter (where decision = 'withdraw'), 0) as withdraw,
        coalesce(sum(records) filter (where is_choice), 0) as choices,
        coalesce(sum(records) filter (where is_choice and is_opt_in), 0) as opt_ins,
        coalesce(sum(records) filter (where is_choice and source = 'banner'), 0) as answers,
        coalesce(sum(records) filter (where not is_asked and decision <> 'accept_all'), 0) as objections,
        null::bigint as allowed, null::bigint as denied, null::bigint as displays
      from valued
      where not bot or dimension = 'source'
      group by domain_number, valued.day, 3, 4
      union all
      select
        domain_number, to_char(date '1970-01-01' + day::int, 'YYYY-MM-DD'), 'category', key, 0, 0, 0, 0, 0, 0, 0, 0,
        coalesce(sum(records) filter (where allowed), 0), coalesce(sum(records) filter (where not allowed), 0), null
      from grouped
      cross join lateral (select key, value = 'true' as allowed from jsonb_each(preferences)) as category
      where grouped_by = 'preferences' and not bot and is_asked
      group by domain_number, grouped.day, key
    )`,
  );
