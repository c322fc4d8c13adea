/**
 * Persist: one statement that stores a batch and counts its new records, or does neither. A record that is already there
 * (same domain and id) is neither stored nor counted again, so a batch may be sent any number of times, by any process. If
 * it succeeds, such records are as safe as if this batch had stored them, on synchronous standbys too.
 */

import { type Database, type Sql, writeSomething } from '#libs/base/db/database';
import { isDeadlock, isMissingMonth } from '#libs/base/db/errors';
import { monthOf, timeOf } from '#libs/base/terms/calendar';
import { type Counter, decisions } from '#libs/base/terms/terms';
import type { NewRecord } from '../contract.ts';
import { storedColumns, storedTypes, toStored } from '../fields.ts';
import { type Numbers, newOf, noticeNumbersOf, type UserAgent, userAgentsOf } from './reference-numbers.ts';
import { isLibrary } from './user-agent.ts';

export interface Persisted {
  /** how many records were new */
  added: number;
  /** the current total (not the increase) of every counter that the batch touched, even if nothing was new */
  counters: Counter[];
  /** left out of a partial batch */
  ofUnknownDomain: NewRecord[];
}

interface PersistOptions {
  /** also notes the counters in `owed_raises`, for a caller that cannot raise them in Redis itself */
  owe?: boolean;
  /** records of domains that do not exist are left out, instead of failing the batch */
  isPartial?: boolean;
}

/** Has the code of the driver's error for a lost connection, so that callers treat it as an outage. */
class ConnectionsClosed extends Error {
  readonly code = 'CONNECTION_CLOSED';
}

/**
 * Stores `records` and returns the counters to raise.
 * Rejects with the driver's error if nothing of the batch was stored, or with TimedOut if that is unknown: then either
 * all of it was stored or nothing.
 */
export async function persist(db: Database, records: NewRecord[], options: PersistOptions = {}): Promise<Persisted> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const generation = db.generation();
      const userAgents = await userAgentsOf(db, records);
      const batch = JSON.stringify(toRows(records, userAgents, await noticeNumbersOf(db, records)));
      // If a connection was closed meanwhile, the numbers may come from another server than the one that would store them,
      // so look them up again. One gap remains: without a pooler the server can still change while the statement waits for
      // a connection.
      if (generation === db.generation()) {
        const added = newOf(userAgents);
        const newNumbers = added.map(({ number }) => number);
        const rows = await db.write((sql) => store(sql, batch, newNumbers, options));
        for (const each of added) each.isNew = false;
        return toPersisted(rows, records);
      }
      if (attempt >= 5) throw new ConnectionsClosed('connections to Postgres were closed again and again');
    } catch (error) {
      if (attempt >= 5) throw error;
      if (isMissingMonth(error)) await makeMonths(db, records);
      else if (!isDeadlock(error)) throw error;
    }
  }
}

async function makeMonths(db: Database, records: NewRecord[]): Promise<void> {
  for (const month of new Set(records.map((record) => monthOf(timeOf(record.id))))) {
    await db.write((sql) => sql`select make_record_month(${month})`);
  }
}

const isOfApp = ({ source, userAgent = '' }: NewRecord): boolean => source === 'api' && isLibrary(userAgent);

const toRows = (records: NewRecord[], userAgents: (UserAgent | undefined)[], notices: Numbers) =>
  records.map((record, at) => {
    const { number: userAgentNumber, crawler: isProgram } = userAgents[at] ?? {};
    const crawler = isProgram && !isOfApp(record);
    return toStored(record, { userAgentNumber, noticeNumber: notices[at], crawler });
  });

/** For each record two rows: `level.period` is the UTC day and the month of its id. */
export const joinPeriods = (sql: Sql) => sql`
  cross join lateral (
    select to_char(date '1970-01-01' + (milliseconds_of(id) / 86400000)::int, 'YYYY-MM-DD') as day
  ) as decided
  cross join lateral (values (decided.day), (left(decided.day, 7))) as level (period)`;

export const countDecisions = (sql: Sql) =>
  sql.unsafe(decisions.map((name) => `count(*) filter (where decision = '${name}') as ${name}`).join(', '));

/** For the `do update` of counters `c`. */
export const addExcluded = (sql: Sql) =>
  sql.unsafe(decisions.map((name) => `${name} = c.${name} + excluded.${name}`).join(', '));

/**
 * All inserts are ordered: two batches that share ids or counters then wait for each other in one direction and
 * cannot deadlock. `newNumbers`: user agents that were added for the batch.
 */
const store = (sql: Sql, batch: string, newNumbers: number[], { owe = false, isPartial = false }: PersistOptions) =>
  sql<(Counter | Outcome)[]>`
    with input as materialized (${readBatch(sql, batch)}),
    added as (${addRecords(sql, isPartial)}),
    by_day as (${sumByDay(sql)}),
    delta as materialized (${sumByCounter(sql)}),
    counted as (${raiseCounters(sql)}),
    crawlers as (${countCrawlers(sql)}),
    busy as (${countBusyVisitors(sql)}),
    owed as (${noteOwed(sql, owe)}),
    unnamed as (${noteUnnamed(sql, newNumbers)})
    select
      organization_id as "organizationId", domain_id as "domainId", period, accept_all, reject_all, custom, withdraw,
      null::bigint as added, null::json as unknown
    from (select * from counted union all ${readUnchanged(sql)}) as c
    union all
    select null, null, null, null, null, null, null, (select count(*) from added),
      (select coalesce(json_agg(arrival), '[]') from input where domain_number is null)
    where case when exists (select from added) then true else ${writeSomething(sql)} end`;

/** The records as rows. They name their domain by its number; one of a domain that does not exist has none. */
const readBatch = (sql: Sql, batch: string) => sql`
  select
    r.*, d.number as domain_number, d.organization_id,
    case when o.log_indexed_since is not null then o.number end as organization_number,
    milliseconds_of(r.id) / 86400000 as day
  from rows from (json_to_recordset(${batch}::text::json) as (
    "domainId" text, ${sql.unsafe(storedTypes)}
  )) with ordinality as r (domain_id, ${sql.unsafe(storedColumns)}, arrival)
  left join domains d on d.id = r.domain_id
  left join organizations o on o.id = d.organization_id`;

/** A record of an unknown domain violates the not-null rule instead of being dropped silently; a partial batch leaves it out and returns it. */
const addRecords = (sql: Sql, isPartial: boolean) => sql`
  insert into records (domain_number, organization_number, epoch, ${sql.unsafe(storedColumns)})
  select domain_number, organization_number, (select open_epoch()), ${sql.unsafe(storedColumns)}
  from input
  where domain_number is not null or not ${isPartial}
  order by domain_number, id, arrival
  on conflict do nothing
  returning domain_number, id, decision, visitor_id, bot, user_agent_number`;

/** What was added, by domain and UTC day; zeros where no record was new. */
const sumByDay = (sql: Sql) => sql`
  select
    domain_number, to_char(date '1970-01-01' + day::int, 'YYYY-MM-DD') as day,
    sum(accept_all) as accept_all, sum(reject_all) as reject_all, sum(custom) as custom, sum(withdraw) as withdraw
  from (
    select
      domain_number, milliseconds_of(id) / 86400000 as day, (decision = 'accept_all')::int as accept_all,
      (decision = 'reject_all')::int as reject_all, (decision = 'custom')::int as custom,
      (decision = 'withdraw')::int as withdraw
    from added
    union all
    select distinct domain_number, day, 0, 0, 0, 0 from input where domain_number is not null
  ) as touched
  group by domain_number, touched.day`;

/** The same for each of the four counters: of the domain and of its organization, of the day and of its month. */
const sumByCounter = (sql: Sql) => sql`
  select
    organization_id, level.domain_id, level.period, sum(accept_all) as accept_all, sum(reject_all) as reject_all,
    sum(custom) as custom, sum(withdraw) as withdraw, sum(accept_all + reject_all + custom + withdraw) as total
  from by_day
  join (select distinct domain_number, domain_id, organization_id from input) as named using (domain_number)
  cross join lateral (
    values (named.domain_id, day), (named.domain_id, left(day, 7)), ('', day), ('', left(day, 7))
  ) as level (domain_id, period)
  group by organization_id, level.domain_id, level.period`;

const raiseCounters = (sql: Sql) => sql`
  insert into counters as c (organization_id, domain_id, period, accept_all, reject_all, custom, withdraw)
  select organization_id, domain_id, period, accept_all, reject_all, custom, withdraw
  from delta
  where total > 0
  order by organization_id collate "C", domain_id collate "C", period collate "C"
  on conflict (organization_id, domain_id, period) do update set ${addExcluded(sql)}
  returning organization_id, domain_id, period, accept_all, reject_all, custom, withdraw`;

/** Counters that the batch touched but did not raise. They are returned because Redis may lack them. */
const readUnchanged = (sql: Sql) => sql`
  select known.* from delta cross join lateral (
    select organization_id, domain_id, period, accept_all, reject_all, custom, withdraw
    from counters c
    where c.organization_id = delta.organization_id and c.domain_id = delta.domain_id and c.period = delta.period
    limit 1
  ) as known
  where delta.total = 0`;

const countCrawlers = (sql: Sql) => sql`
  insert into crawler_counters as c (domain_number, period, accept_all, reject_all, custom, withdraw)
  select domain_number, level.period, ${countDecisions(sql)}
  from added ${joinPeriods(sql)}
  where bot
  group by 1, 2
  order by 1, 2
  on conflict (domain_number, period) do update set ${addExcluded(sql)}`;

const countBusyVisitors = (sql: Sql) => sql`
  insert into visitor_counters as c (domain_number, visitor_id, period, bot, accept_all, reject_all, custom, withdraw)
  select domain_number, visitor_id, level.period, bot, ${countDecisions(sql)}
  from added join busy_visitors using (domain_number, visitor_id) ${joinPeriods(sql)}
  group by 1, 2, 3, 4
  order by 1, 2, 3, 4
  on conflict (domain_number, visitor_id, period, bot) do update set ${addExcluded(sql)}`;

const noteOwed = (sql: Sql, owe: boolean) => sql`
  insert into owed_raises (organization_id, domain_id, period)
  select organization_id, domain_id, period from delta where ${owe}
  order by organization_id collate "C", domain_id collate "C", period collate "C"
  on conflict (organization_id, domain_id, period) do update set times = owed_raises.times + 1`;

/**
 * A batch may add a user agent and then store no record with it, because those records were already stored and their
 * visitor may have been erased since. Nothing refers to the new row then, so it is noted for deletion.
 */
const noteUnnamed = (sql: Sql, newNumbers: number[]) => sql`
  insert into user_agents_to_look_for (number)
  select distinct number from unnest(${newNumbers}::integer[]) as number
  where number not in (select user_agent_number from added where user_agent_number is not null)
  order by 1
  on conflict (number) do update set noted_at = clock_timestamp()`;

/** The last row; all others are counters. */
interface Outcome {
  organizationId: null;
  added: number;
  /** the places of records of unknown domains, from 1 */
  unknown: number[];
}

function toPersisted(rows: (Counter | Outcome)[], records: NewRecord[]): Persisted {
  const persisted: Persisted = { added: 0, counters: [], ofUnknownDomain: [] };
  for (const row of rows) {
    if (row.organizationId === null) {
      persisted.added = row.added;
      persisted.ofUnknownDomain = row.unknown.flatMap((arrival) => records[arrival - 1] ?? []);
    } else {
      const { organizationId, domainId, period, accept_all, reject_all, custom, withdraw } = row;
      persisted.counters.push({ organizationId, domainId, period, accept_all, reject_all, custom, withdraw });
    }
  }
  return persisted;
}
