/**
 * Lanes: each delivers the messages of a domain's log, or a single message, to a webhook in order. A lane stores its
 * position in the log, so what is due follows from that position and the log's size. Nothing is lost if a worker dies or
 * Redis is flushed.
 */

import type { Sql } from '#libs/base/db/database';
import { fromNow } from '#libs/base/db/postgres-time';
import type { LogSize } from '#libs/proof/published';
import type { Webhook } from './stored-webhooks.ts';

/** message types with a lane for each domain */
const logTypes = ['records.sealed', 'visitor.erased'] as const;
/** Lanes that are due wait in one of two lines, so that failing webhooks do not delay the others. */
export const lines = { well: 1, failing: 2 };
export type Line = keyof typeof lines;

/** Adds the lanes that a webhook lacks, each at the present size of its domain's log. */
export const addLanes = (sql: Sql, { number }: Pick<Webhook, 'number'>) => sql`
  insert into webhook_lanes (webhook, type, domain_number, log, position, due_at)
  select webhooks.number, type, domains.number, coalesce(newest.log, 1), coalesce(newest.size, 0), 'infinity'
  from webhooks
    join domains on domains.organization_id = webhooks.organization_id
      and (webhooks.domains is null or domains.id = any(webhooks.domains))
    cross join unnest(${[...logTypes]}::text[]) as type
    left join lateral (
      select log, checkpoint_size as size from logs where domain_number = domains.number order by log desc limit 1
    ) as newest on true
  where webhooks.number = ${number} and type = any(webhooks.types)
  on conflict (webhook, type, domain_number) do nothing`;

/**
 * For a webhook that receives all domains: adds lanes for domains that are newer than its lanes. Unlike those of
 * `addLanes`, they start at the log's first entry.
 */
export const addLanesFromStart = (sql: Sql, { number }: Pick<Webhook, 'number'>) =>
  insertNewLanes(sql, sql`webhooks.number = ${number}`);

/**
 * Adds lanes for new domains to the webhooks that receive all domains. Such a lane starts at the log's first entry. Looks
 * only at domains numbered above `after`, and returns the highest number there is. A domain with a lower number may be
 * committed later and be missed, so `repairLanes` also adds missing lanes.
 */
export async function addNewLanes(sql: Sql, after: number): Promise<number> {
  const [row] = await sql<{ newest: number }[]>`
    with added as (${insertNewLanes(sql, sql`domains.number > ${after}`)})
    select coalesce(max(number), 0)::int as newest from domains`;
  return row?.newest ?? 0;
}

export async function findNewestDomain(sql: Sql): Promise<number> {
  const [row] = await sql<{ newest: number }[]>`select coalesce(max(number), 0)::int as newest from domains`;
  return row?.newest ?? 0;
}

/**
 * Adds missing lanes of the next webhooks after a number, and wakes those that should be due. In pieces, because an
 * organization may have millions of lanes. Returns the number to continue after; 0 after the last webhook.
 */
export async function repairLanes(run: Run, after: number, webhooks: number): Promise<number> {
  const [piece] = await run(
    (sql) => sql<{ through: number | null; count: number }[]>`
      select max(number) as through, count(*)::int as count
      from (select number from webhooks where number > ${after} order by number limit ${webhooks}) as next`,
  );
  if (!piece || piece.through === null) return 0;
  const { through, count } = piece;
  await run((sql) => insertNewLanes(sql, sql`webhooks.number > ${after} and webhooks.number <= ${through}`));
  for (let woken = wokenAtOnce; woken === wokenAtOnce; )
    woken = await run((sql) => wakeGrownOf(sql, { after, through }));
  await run((sql) => correctTimes(sql, { after, through }));
  return count < webhooks ? 0 : through;
}

type Run = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

/** A range of webhook numbers: above `after`, up to `through`. */
interface Webhooks {
  after: number;
  through: number;
}

/** A webhook gets its lanes in the transaction that creates or changes it, so missing lanes are those of newer domains. */
const insertNewLanes = (sql: Sql, which: ReturnType<Sql>) => sql`
  with missing as materialized (
    select webhooks.number as webhook, type, domains.number as domain_number
    from webhooks
      join domains on domains.organization_id = webhooks.organization_id
      cross join unnest(${[...logTypes]}::text[]) as type
    where ${which} and webhooks.domains is null and type = any(webhooks.types) and not exists (
      select from webhook_lanes as l
      where l.webhook = webhooks.number and l.type = type.type and l.domain_number = domains.number
    )
  ),
  -- waits for concurrent changes, which may remove types or domains
  current as materialized (
    select number, types from webhooks
    where number in (select webhook from missing) and domains is null
    order by number for share
  )
  insert into webhook_lanes (webhook, type, domain_number, log, position, due_at)
  select webhook, type, domain_number, 1, 0, 'infinity'
  from missing join current on current.number = webhook and type = any(types)
  order by 1, 2, 3
  on conflict (webhook, type, domain_number) do nothing`;

/** Deletes lanes of domains and types that the webhook no longer receives. */
export const dropLanes = (sql: Sql, { number }: Pick<Webhook, 'number'>) => sql`
  delete from webhook_lanes as l using webhooks
  where webhooks.number = ${number} and l.webhook = webhooks.number and l.type <> 'webhook.test' and not (
    l.type = any(webhooks.types) and case
      when l.domain_number is null then coalesce(l.data ->> 'domainId' = any(webhooks.domains), true)
      else webhooks.domains is null
        or l.domain_number in (select domains.number from domains where domains.id = any(webhooks.domains))
    end
  )`;

/** Makes all lanes of a webhook due, and starts their attempts over. */
export const wakeLanes = (sql: Sql, webhook: number, which = sql`true`) => sql`
  update webhook_lanes as l set due_at = clock_timestamp(), tries = 0, ${putInLine(sql)}
  from ${withOrganization(sql)}
  where webhook = ${webhook} and webhooks.number = l.webhook and ${which}`;

/** Makes lanes due that wait for their next attempt, unless the webhook is disabled. */
export const retryLanes = (sql: Sql, webhook: number) =>
  wakeLanes(sql, webhook, sql`enabled and due_at > statement_timestamp() and due_at < 'infinity'`);

/** Stops all lanes until they are woken. A test is still sent. */
export const pauseLanes = (sql: Sql, webhook: number) => sql`
  update webhook_lanes set due_at = 'infinity', line = null where webhook = ${webhook} and type <> 'webhook.test'`;

/**
 * Call it when a webhook is changed: it may have another receiver now, so the limit on entries per message that a 413 led
 * to no longer applies.
 */
export const resetMaxEntries = (sql: Sql, webhook: number) => sql`
  update webhook_lanes set at_most = null where webhook = ${webhook} and at_most is not null`;

const putInLine = (sql: Sql) => sql`
  line = case when failing_since is null then ${lines.well}::smallint else ${lines.failing}::smallint end, organization = organizations.number`;
const withOrganization = (sql: Sql) => sql`webhooks join organizations on organizations.id = webhooks.organization_id`;

/** Moves the lanes of a domain back to a position, to send its entries again. */
export const rewind = (sql: Sql, webhook: number, { domainNumber, log }: LogSize, from: number) => sql`
  update webhook_lanes set
    log = ${log}, position = ${from}, message_id = null, made_at = null, through = null, tries = 0, claimed_by = null,
    claimed_until = null, line = null,
    due_at = case when (select enabled from webhooks where number = ${webhook}) then clock_timestamp() else 'infinity' end
  where webhook = ${webhook} and domain_number = ${domainNumber}`;

/** lanes in one statement */
export const wokenAtOnce = 5_000;

const isBehind = (sql: Sql) => sql`
  l.due_at = 'infinity' and webhooks.enabled
  and (logs.log > l.log and logs.checkpoint_size > 0 or logs.log = l.log and logs.checkpoint_size > l.position)`;

/** `grown`: a query for the ids (`number`) of lanes that are behind. Returns how many it woke, at most `wokenAtOnce`. */
const wake = async (sql: Sql, grown: ReturnType<Sql>): Promise<number> => {
  const { count } = await sql`
    with grown as materialized (${grown} limit ${wokenAtOnce})
    update webhook_lanes as l set due_at = clock_timestamp(), ${putInLine(sql)}
    from grown, ${withOrganization(sql)}
    where l.number = grown.number and l.due_at = 'infinity' and webhooks.number = l.webhook`;
  return count;
};

/** Wakes lanes of logs that grew within the last `within` milliseconds. Reads only the lanes of these logs. */
export const wakeGrown = (sql: Sql, within: number): Promise<number> =>
  wake(
    sql,
    sql`
      select l.number
      from (select * from logs where sealed_at >= ${fromNow(sql, -within)} offset 0) as logs
      cross join lateral (
        select l.number from webhook_lanes as l join webhooks on webhooks.number = l.webhook
        where l.domain_number = logs.domain_number and ${isBehind(sql)} offset 0
      ) as l`,
  );

const wakeGrownOf = (sql: Sql, { after, through }: Webhooks): Promise<number> =>
  wake(
    sql,
    sql`
      select l.number
      from webhook_lanes as l
        join logs on logs.domain_number = l.domain_number
        join webhooks on webhooks.number = l.webhook
      where l.webhook > ${after} and l.webhook <= ${through} and ${isBehind(sql)}`,
  );

/** milliseconds: longer than any wait for the next attempt */
const longestWait = 27 * 60 * 60 * 1_000;
/** milliseconds: the longest wait of a lane that was postponed without an attempt */
export const longestPostponed = 60_000;

/**
 * Repairs times that were written while the clock was ahead. Makes a lane due now if it is in line but not due, if it would
 * wait longer than is ever scheduled, or if its last attempt is dated in the future. Sets a `failing_since` in the future
 * to now.
 */
async function correctTimes(sql: Sql, { after, through }: Webhooks): Promise<void> {
  await sql`
    with failing as (
      update webhooks set failing_since = clock_timestamp()
      where number > ${after} and number <= ${through} and failing_since > clock_timestamp()
    )
    update webhook_lanes set due_at = clock_timestamp(), line = null
    where webhook > ${after} and webhook <= ${through}
      and due_at < 'infinity' and due_at > statement_timestamp() and (
        line is not null
        or due_at > ${fromNow(sql, longestWait)}
        or tries = 0 and due_at > ${fromNow(sql, longestPostponed)}
        or (webhook, message_id, tries) in (
          select webhook, message_id, attempt from webhook_deliveries where at > statement_timestamp()
        )
      )`;
}

/** lanes in one statement */
const linedUp = 5_000;

/** Puts lanes into their lines once they are due. */
export const lineUp = (sql: Sql) => sql`
  with due as materialized (
    select number from webhook_lanes where line is null and due_at < 'infinity' and due_at <= statement_timestamp()
    order by due_at limit ${linedUp} for update skip locked
  )
  update webhook_lanes as l set ${putInLine(sql)}
  from due, ${withOrganization(sql)}
  where l.number = due.number and webhooks.number = l.webhook`;
