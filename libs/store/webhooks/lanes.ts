/**
 * Lanes: what is delivered to a webhook one message after another, of a domain's log or a single message. A lane keeps how
 * far it is, so what is due follows from it and from the log's size: nothing is lost with a worker or with Redis.
 */
import { monthOf } from '#libs/contract/calendar';
import type { Decision } from '#libs/contract/terms';
import type { Failure, MessageType } from '#libs/contract/webhook';
import type { LogSize } from '../logs/published.ts';
import type { Sql } from '../sql.ts';
import type { Webhook } from './webhooks.ts';

/** types that follow a log */
const logTypes = ['records.sealed', 'visitor.erased'] as const;
/** positions in one message */
const windows = { 'records.sealed': 100, 'visitor.erased': 10_000 };

/** Adds those that a webhook lacks, each at the present size of its domain's log. */
export const addLanes = (sql: Sql, { number }: Pick<Webhook, 'number'>) =>
  insertLanes(sql, sql`webhooks.number = ${number}`);

/** A new domain's, for all webhooks that are told of every domain. */
export const addLanesOfDomain = (sql: Sql, domainId: string) =>
  insertLanes(sql, sql`domains.id = ${domainId} and webhooks.domains is null`);

const insertLanes = (sql: Sql, which: ReturnType<Sql>) => sql`
  insert into webhook_lanes (webhook, type, domain_number, log, position, due_at)
  select webhooks.number, type, domains.number, coalesce(newest.log, 1), coalesce(newest.size, 0), 'infinity'
  from webhooks
    join domains on domains.organization_id = webhooks.organization_id
      and (webhooks.domains is null or domains.id = any(webhooks.domains))
    cross join unnest(${[...logTypes]}::text[]) as type
    left join lateral (
      select log, checkpoint_size as size from logs where domain_number = domains.number order by log desc limit 1
    ) as newest on true
  where ${which} and type = any(webhooks.types)
  on conflict (webhook, type, domain_number) do nothing`;

/** Drops those of domains and types that a webhook is not told of any more. */
export const dropLanes = (sql: Sql, { number }: Pick<Webhook, 'number'>) => sql`
  delete from webhook_lanes as l using webhooks
  where webhooks.number = ${number} and l.webhook = webhooks.number and l.type <> 'webhook.test' and not (
    l.type = any(webhooks.types) and (
      l.domain_number is null or webhooks.domains is null
      or l.domain_number in (select domains.number from domains where domains.id = any(webhooks.domains))
    )
  )`;

/** All of a webhook's are tried at once, with all tries before them. */
export const wakeLanes = (sql: Sql, webhook: number) => sql`
  update webhook_lanes set due_at = clock_timestamp(), tries = 0 where webhook = ${webhook}`;

/** Lets a webhook's lanes of a log begin again. */
export const setBack = (sql: Sql, webhook: number, { domainNumber, log }: LogSize, from: number) => sql`
  update webhook_lanes set
    log = ${log}, position = ${from}, message_id = null, made_at = null, through = null, tries = 0, claimed_by = null,
    claimed_until = null,
    due_at = case when (select enabled from webhooks where number = ${webhook}) then clock_timestamp() else 'infinity' end
  where webhook = ${webhook} and domain_number = ${domainNumber}`;

/** Wakes lanes whose logs have grown since `since`, or at any time. */
export const wakeGrown = (sql: Sql, since: Date | null) => sql`
  update webhook_lanes as l set due_at = clock_timestamp()
  from logs, webhooks
  where logs.domain_number = l.domain_number and l.due_at = 'infinity' and webhooks.number = l.webhook
    and webhooks.enabled and ${since ? sql`logs.sealed_at >= ${since}` : sql`true`}
    and (logs.log > l.log and logs.checkpoint_size > 0 or logs.log = l.log and logs.checkpoint_size > l.position)`;

/** What a worker needs to deliver a lane's next message. */
export interface Lane {
  number: number;
  type: MessageType;
  webhook: number;
  webhookId: string;
  organizationId: string;
  url: string;
  secret: Buffer;
  /** signs as well */
  previousSecret: Buffer | null;
  decisions: Decision[] | null;
  domainNumber: number | null;
  domainId: string | null;
  log: number | null;
  position: number | null;
  /** the position after its last; null where there is nothing to deliver */
  through: number | null;
  messageId: string;
  madeAt: Date;
  /** of a single message */
  data: Record<string, string | number> | null;
  /** that have failed */
  tries: number;
  /** the plan holds its entries back */
  isCapped: boolean;
}

export interface Claiming {
  /** of the process */
  by: string;
  now: Date;
  /** milliseconds after which others may take it over */
  lease: number;
  /** lanes of webhooks that fail, or of all others */
  failing: boolean;
  /** at most, in all and of one webhook */
  limit: number;
  perWebhook: number;
  /** lanes, and the webhook of each, that the process is still at */
  running: { number: number; webhook: number }[];
}

/** Takes lanes that are due, in turns between webhooks. */
export async function claimLanes(sql: Sql, claiming: Claiming): Promise<Lane[]> {
  const { by, now, lease, failing, limit, perWebhook, running } = claiming;
  const isFree = sql`(claimed_until is null or claimed_until < ${now}) and l.number <> all(${running.map(({ number }) => number)}::bigint[])`;
  const month = monthOf(now.getTime());
  const rows = await sql<(Lane & { isIdle: boolean })[]>`
    with due as (
      select distinct webhook from webhook_lanes where due_at <= ${now} and due_at < 'infinity'
    ),
    candidates as (
      select lane.number
      from due join webhooks on webhooks.number = due.webhook
      cross join lateral (
        select l.number, l.due_at from webhook_lanes as l
        where l.webhook = due.webhook and l.due_at <= ${now} and l.due_at < 'infinity' and ${isFree}
          and (webhooks.enabled or l.type = 'webhook.test')
          and (l.tries > 0 or webhooks.failing_since is not null) = ${failing}
        order by l.due_at
        limit greatest(0, ${perWebhook} - (
          select count(*) from unnest(${running.map(({ webhook }) => webhook)}::integer[]) as busy where busy = due.webhook
        ))
      ) as lane
      order by lane.due_at limit ${limit}
    ),
    -- by itself: a join would be made with what a lane was before it was locked, and undo a replay or repeat a message
    locked as materialized (
      select l.number, l.domain_number, l.log, l.position, l.through from webhook_lanes as l
      where l.number in (select number from candidates) and ${isFree}
      for update skip locked
    ),
    found as (
      select l.number, next.log, next.first, next.size,
        l.domain_number is not null and l.through is null and next.log is null as idle
      from locked as l left join lateral (
        select logs.log, place.first, checkpoint_size as size
        from logs cross join lateral (select case when logs.log = l.log then l.position else 0 end as first) as place
        where domain_number = l.domain_number and l.through is null and logs.log >= l.log and checkpoint_size > place.first
        order by logs.log limit 1
      ) as next on true
    )
    update webhook_lanes as l set
      claimed_by = case when idle then null else ${by}::uuid end,
      claimed_until = case when idle then null else ${new Date(now.getTime() + lease)}::timestamptz end,
      due_at = case when idle then 'infinity' else due_at end,
      message_id = coalesce(l.message_id, 'msg_' || replace(gen_random_uuid()::text, '-', '')),
      made_at = coalesce(l.made_at, ${now}),
      log = coalesce(found.log, l.log), position = coalesce(found.first, l.position),
      through = coalesce(l.through, least(size, first + ${windowOf(sql)}))
    from found, webhooks
    where l.number = found.number and webhooks.number = l.webhook
    returning l.number, l.type, l.webhook, webhooks.id as "webhookId", webhooks.organization_id as "organizationId", url,
      secret, case when previous_until > ${now} then previous_secret end as "previousSecret",
      to_json(decisions) as decisions, domain_number as "domainNumber",
      (select id from domains where domains.number = domain_number) as "domainId", l.log, position, l.through,
      message_id as "messageId", made_at as "madeAt", data, tries, idle as "isIdle",
      type = 'records.sealed' and ${isCapped(sql, month)} as "isCapped"`;
  return rows.filter(({ isIdle }) => !isIdle);
}

const windowOf = (sql: Sql) => sql`case l.type
  when 'records.sealed' then ${windows['records.sealed']}::bigint else ${windows['visitor.erased']}::bigint end`;

/** Whether the plan of `webhooks` holds entries back, in that month. */
const isCapped = (sql: Sql, month: string) => sql`
  (
    select not consent_log or coalesce(
      (
        select accept_all + reject_all + custom + withdraw from counters
        where organization_id = organizations.id and domain_id = '' and period = ${month}
      ) >= monthly_record_limit, monthly_record_limit = 0, false
    )
    from organizations join plans on plans.name = plan where organizations.id = webhooks.organization_id
  )`;

export interface Try {
  at: Date;
  milliseconds: number;
  status: number | null;
}

/** The message under way ends before the position `through` of the lane, at every further try too. */
export const endBefore = (sql: Sql, lane: Lane, by: string) => sql`
  update webhook_lanes set through = ${lane.through}
  where number = ${lane.number} and claimed_by = ${by}::uuid and message_id = ${lane.messageId}`;

/** The message was delivered, or, without a try, there was nothing in it: the lane goes on behind it. */
export async function goOn(sql: Sql, lane: Lane, by: string, now: Date, tried?: Try): Promise<void> {
  const own = sql`number = ${lane.number} and claimed_by = ${by}::uuid`;
  await sql`
    with lane as (
      ${
        lane.domainNumber === null
          ? sql`delete from webhook_lanes where ${own} and message_id = ${lane.messageId}`
          : sql`
            update webhook_lanes set
              position = ${lane.through}, message_id = null, made_at = null, through = null, tries = 0, due_at = ${now},
              claimed_by = null, claimed_until = null
            where ${own} and message_id = ${lane.messageId}`
      }
    )
    ${
      tried
        ? sql`
          , told as (
            update webhooks set last_delivered_at = ${tried.at}, failing_since = null where number = ${lane.webhook}
          )
          ${insertDelivery(sql, lane, tried, null, null)}`
        : sql`select 1`
    }`;
}

/** Milliseconds in which a webhook whose last try failed is disabled; if that did not happen, one more try is due. */
const disabledWithin = 60_000;

/**
 * `next`: when it is tried again; null for never, since the webhook is disabled then. A test is tried once, and says
 * nothing about the rest.
 */
export async function fail(
  sql: Sql,
  lane: Lane,
  by: string,
  { tried, failure, next }: { tried: Try; failure: Failure; next: Date | null },
): Promise<void> {
  const own = sql`number = ${lane.number} and claimed_by = ${by}::uuid and message_id = ${lane.messageId}`;
  const isTest = lane.type === 'webhook.test';
  await sql`
    with lane as (
      ${
        isTest
          ? sql`delete from webhook_lanes where ${own}`
          : sql`
            update webhook_lanes set
              tries = tries + 1, due_at = ${next ?? new Date(tried.at.getTime() + disabledWithin)}, claimed_by = null, claimed_until = null
            where ${own}`
      }
    ),
    told as (
      update webhooks set failing_since = coalesce(failing_since, ${tried.at}) where number = ${lane.webhook} and ${!isTest}
    )
    ${insertDelivery(sql, lane, tried, failure, next)}`;
}

/** Nothing was sent; it is looked at again at `until`. */
export const putOff = (sql: Sql, lane: Lane, by: string, until: Date) => sql`
  update webhook_lanes set due_at = ${until}, claimed_by = null, claimed_until = null
  where number = ${lane.number} and claimed_by = ${by}::uuid`;

/** What a process was at, once it ends. */
export const releaseLanes = (sql: Sql, by: string, numbers: number[]) => sql`
  update webhook_lanes set claimed_by = null, claimed_until = null
  where number = any(${numbers}::bigint[]) and claimed_by = ${by}::uuid`;

/** Of a webhook that was deleted meanwhile nothing is kept. */
const insertDelivery = (
  sql: Sql,
  lane: Lane,
  { at, milliseconds, status }: Try,
  failure: Failure | null,
  next: Date | null,
) => sql`
  insert into webhook_deliveries (
    webhook, message_id, type, domain_number, log, first, size, attempt, at, milliseconds, failure, status, next_try_at
  )
  select number, ${lane.messageId}, ${lane.type}, ${lane.domainNumber}, ${lane.log}::integer, ${lane.position}::bigint,
    ${lane.through}::bigint, ${lane.tries + 1}, ${at}, ${milliseconds}, ${failure}, ${status}::integer, ${next}
  from webhooks where number = ${lane.webhook}`;
