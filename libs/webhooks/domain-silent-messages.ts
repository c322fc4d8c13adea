/** Messages for domains that have fallen silent: once, until records come again. */

import type { Database, Sql } from '#libs/base/db/database';
import { earlierNow } from '#libs/base/db/postgres-time';

/**
 * A domain counts as silent if at least this many records would usually have come since its last one. If records arrive
 * independently, the chance that none comes is e⁻⁷, less than 1 in 1,000.
 */
const expected = 7;
/** The longest silence that is noticed, and the weeks that the usual number is taken from. */
const weeks = 4;
/** Messages in one statement: after an outage, every domain may be silent. */
const atOnce = 5_000;

export async function addAllSilenceMessages(db: Pick<Database, 'write'>): Promise<void> {
  for (let added = atOnce; added === atOnce; ) added = await db.write((sql) => addSilenceMessages(sql));
}

/**
 * Adds messages that are due; returns their number. The usual number of a day is the average of the same weekday in the
 * four weeks up to the last record, so a website that rests at weekends is not reported every Saturday. Counters are per
 * day, so for the day of the last record and for today it is not known how many records were usual in the silent hours.
 * Together the two count as one day, at the lower of their averages, once their silent hours add up to at least 24.
 */
export async function addSilenceMessages(sql: Sql, here = new Date()): Promise<number> {
  const { count } = await sql`
    with this as materialized (
      select now at time zone 'UTC' as now, id_at(now - ${7 * weeks} * interval '1 day') as oldest
      from (select ${earlierNow(sql, here)} as now) as clock
    ),
    listening as materialized (
      select number as webhook, organization_id, domains from webhooks where enabled and 'domain.silent' = any(types)
    ),
    quiet as materialized (
      select number, id, organization_id, last, now
      from this, domains cross join lateral (
        select timestamp 'epoch' + milliseconds_of(records.id) * interval '1 ms' as last from records
        where domain_number = domains.number and records.id >= oldest
        order by records.id desc limit 1
      ) as newest
      where archived_at is null and organization_id in (select organization_id from listening)
        and last <= now - interval '1 day'
    ),
    unreported as materialized (
      select webhook, quiet.* from quiet join listening using (organization_id)
      where (domains is null or id = any(domains)) and not exists (
        select from webhook_silences as reported
        where reported.webhook = listening.webhook and domain_number = quiet.number
          and last_record_at >= last at time zone 'UTC'
      )
    ),
    silent as materialized (
      select number, id, last
      from (select distinct number, id, organization_id, last, now from unreported) as quiet
      cross join lateral (
        select sum(usual) filter (where day > 0 and day < today) as whole,
          min(usual) filter (where extract(day from now - last) >= today and day in (0, today)) as partial
        from (
          select day, now::date - last::date as today,
            coalesce(sum(accept_all + reject_all + custom + withdraw), 0) / ${weeks} as usual
          from generate_series(0, now::date - last::date) as day
          cross join generate_series(0, ${7 * (weeks - 1)}, 7) as before
          left join counters on counters.organization_id = quiet.organization_id and domain_id = quiet.id
            and period = to_char(last::date - (7 - day % 7) % 7 - before, 'YYYY-MM-DD')
          group by day
        ) as days
      ) as since
      where coalesce(whole, 0) + coalesce(partial, 0) >= ${expected}
    ),
    -- if two workers run this at once, the second waits here for the first one's rows
    reported as (
      insert into webhook_silences as reported (webhook, domain_number, last_record_at)
      select webhook, number, last at time zone 'UTC' from unreported join silent using (number, last)
      order by 1, 2 limit ${atOnce}
      on conflict (webhook, domain_number) do update set last_record_at = excluded.last_record_at
      where reported.last_record_at < excluded.last_record_at
      returning webhook, domain_number
    )
    insert into webhook_lanes (webhook, type, made_at, data)
    select webhook, 'domain.silent', date_trunc('milliseconds', clock_timestamp()), jsonb_build_object(
      'domainId', id, 'lastRecordAt', to_char(last, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    )
    from reported join silent on number = domain_number`;
  return count;
}
