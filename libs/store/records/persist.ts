/**
 * Persist: one statement that stores a batch and counts its new records, or does neither.
 * A record that is already there (same domain and id) is neither stored nor counted again, so a batch may be sent any
 * number of times, by any process.
 */
import { monthOf } from '#libs/contract/calendar';
import type { NewRecord } from '#libs/contract/record';
import type { Counter } from '#libs/contract/terms';
import { timeOf } from '#libs/contract/uuid';
import { isDeadlock, isMissingMonth } from '../errors.ts';
import type { Database, Sql } from '../sql.ts';

export interface Persisted {
  /** how many records were new */
  added: number;
  /** the absolute value of every counter that the batch touched, even if nothing was new */
  counters: Counter[];
}

/**
 * Stores `records` and returns the counters to raise.
 * With `owe` the counters are also noted in `owed_raises`, for a caller that cannot raise them itself.
 * Rejects with the driver's error if nothing of the batch was stored, or with TimedOut if that is unknown: then either
 * all of it was stored or nothing.
 */
export async function persist(db: Database, records: NewRecord[], { owe = false } = {}): Promise<Persisted> {
  const batch = JSON.stringify(records);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.run((sql) => persistBatch(sql, batch, owe));
    } catch (error) {
      if (attempt === 5) throw error;
      if (isMissingMonth(error)) await makeMonths(db, records);
      else if (!isDeadlock(error)) throw error;
    }
  }
}

async function makeMonths(db: Database, records: NewRecord[]): Promise<void> {
  for (const month of new Set(records.map((record) => monthOf(timeOf(record.id))))) {
    await db.run((sql) => sql`select make_record_month(${month})`);
  }
}

/**
 * Both inserts are ordered: two batches that share ids or counters then wait for each other in one direction and
 * cannot deadlock. The organization is read from the domain, not taken from the record; a domain that does not exist
 * violates the not-null rule instead of dropping the record silently.
 */
async function persistBatch(sql: Sql, batch: string, owe: boolean): Promise<Persisted> {
  const rows = await sql<(Counter & { added: number })[]>`
    with input as materialized (
      select r.*, d.organization_id, milliseconds_of(r.id) / 86400000 as day
      from rows from (json_to_recordset(${batch}::text::json) as (
        "id" uuid, "domainId" text, "decision" decision, "receivedAt" timestamptz, "source" source, "gpc" boolean,
        "visitorId" text, "preferences" jsonb, "bannerVersion" text, "policyVersion" text, "language" text,
        "pageUrl" text, "country" text, "ip" text, "userAgent" text, "tcString" text, "gppString" text,
        "metadata" jsonb, "bot" boolean
      )) with ordinality as r (
        id, domain_id, decision, received_at, source, gpc, visitor_id, preferences, banner_version, policy_version,
        language, page_url, country, ip, user_agent, tc_string, gpp_string, metadata, bot, arrival
      )
      left join domains d on d.id = r.domain_id
    ),
    added as (
      insert into records (
        domain_id, id, organization_id, decision, received_at, source, gpc, visitor_id, preferences, banner_version,
        policy_version, language, page_url, country, ip, user_agent, tc_string, gpp_string, metadata, bot
      )
      select
        domain_id, id, organization_id, decision, received_at, coalesce(source, 'banner'), gpc, visitor_id, preferences,
        banner_version, policy_version, language, page_url, country, ip, user_agent, tc_string, gpp_string, metadata,
        coalesce(bot, false)
      from input
      order by domain_id, id, arrival
      on conflict do nothing
      returning organization_id, domain_id, id, decision
    ),
    by_day as (
      select
        organization_id, domain_id, to_char(date '1970-01-01' + day::int, 'YYYY-MM-DD') as day,
        sum(accept_all) as accept_all, sum(reject_all) as reject_all, sum(custom) as custom, sum(withdraw) as withdraw
      from (
        select
          organization_id, domain_id, milliseconds_of(id) / 86400000 as day, (decision = 'accept_all')::int as accept_all,
          (decision = 'reject_all')::int as reject_all, (decision = 'custom')::int as custom,
          (decision = 'withdraw')::int as withdraw
        from added
        union all
        select distinct organization_id, domain_id, day, 0, 0, 0, 0 from input
      ) as touched
      group by organization_id, domain_id, touched.day
    ),
    delta as materialized (
      select
        organization_id, level.domain_id, level.period, sum(accept_all) as accept_all, sum(reject_all) as reject_all,
        sum(custom) as custom, sum(withdraw) as withdraw, sum(accept_all + reject_all + custom + withdraw) as total
      from by_day cross join lateral (
        values (by_day.domain_id, day), (by_day.domain_id, left(day, 7)), ('', day), ('', left(day, 7))
      ) as level (domain_id, period)
      group by organization_id, level.domain_id, level.period
    ),
    counted as (
      insert into counters as c (organization_id, domain_id, period, accept_all, reject_all, custom, withdraw)
      select organization_id, domain_id, period, accept_all, reject_all, custom, withdraw
      from delta
      where total > 0
      order by organization_id collate "C", domain_id collate "C", period collate "C"
      on conflict (organization_id, domain_id, period) do update set
        accept_all = c.accept_all + excluded.accept_all,
        reject_all = c.reject_all + excluded.reject_all,
        custom = c.custom + excluded.custom,
        withdraw = c.withdraw + excluded.withdraw
      returning organization_id, domain_id, period, accept_all, reject_all, custom, withdraw
    ),
    owed as (
      insert into owed_raises (organization_id, domain_id, period)
      select organization_id, domain_id, period from delta where ${owe}
    )
    select
      c.organization_id as "organizationId", c.domain_id as "domainId", c.period,
      c.accept_all, c.reject_all, c.custom, c.withdraw, (select count(*) from added) as added
    from (
      select * from counted
      union all
      select known.* from delta cross join lateral (
        select organization_id, domain_id, period, accept_all, reject_all, custom, withdraw
        from counters c
        where c.organization_id = delta.organization_id and c.domain_id = delta.domain_id and c.period = delta.period
        limit 1
      ) as known
      where delta.total = 0
    ) as c`;
  const added = rows[0]?.added ?? 0;
  return { added, counters: rows.map(({ added: _, ...counter }) => counter) };
}
