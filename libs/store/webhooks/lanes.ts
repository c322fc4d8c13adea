/**
 * Lanes: what is delivered to a webhook one message after another, of a domain's log or a single message. A lane keeps how
 * far it is, so what is due follows from it and from the log's size: nothing is lost with a worker or with Redis.
 */
import type { Decision } from '#libs/contract/terms';
import type { Failure, MessageType } from '#libs/contract/webhook';
import { groupBy } from '#libs/runtime/group-by';
import { fromNow, isReached } from '../due.ts';
import type { LogSize } from '../logs/published.ts';
import type { Sql } from '../sql.ts';
import type { Webhook } from './webhooks.ts';

/** types that follow a log */
const logTypes = ['records.sealed', 'visitor.erased'] as const;
/** Lanes that are due stand in one of two lines: those of webhooks that fail have places of their own. */
const lines = { well: 1, failing: 2 };
export type Line = keyof typeof lines;
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
  update webhook_lanes as l set due_at = clock_timestamp(), tries = 0, ${inLine(sql)}
  from ${withOrganization(sql)}
  where webhook = ${webhook} and webhooks.number = l.webhook`;

/** None is delivered until they are woken, but for a test. */
export const restLanes = (sql: Sql, webhook: number) => sql`
  update webhook_lanes set due_at = 'infinity', line = null where webhook = ${webhook} and type <> 'webhook.test'`;

const inLine = (sql: Sql) => sql`
  line = case when failing_since is null then ${lines.well}::smallint else ${lines.failing}::smallint end, organization = organizations.number`;
const withOrganization = (sql: Sql) => sql`webhooks join organizations on organizations.id = webhooks.organization_id`;

/** Lets a webhook's lanes of a log begin again. */
export const setBack = (sql: Sql, webhook: number, { domainNumber, log }: LogSize, from: number) => sql`
  update webhook_lanes set
    log = ${log}, position = ${from}, message_id = null, made_at = null, through = null, tries = 0, claimed_by = null,
    claimed_until = null, line = null,
    due_at = case when (select enabled from webhooks where number = ${webhook}) then clock_timestamp() else 'infinity' end
  where webhook = ${webhook} and domain_number = ${domainNumber}`;

/** Wakes lanes whose logs have grown in these last milliseconds, or at any time. */
export const wakeGrown = (sql: Sql, within: number | null) => sql`
  update webhook_lanes as l set due_at = clock_timestamp(), ${inLine(sql)}
  from logs, ${withOrganization(sql)}
  where logs.domain_number = l.domain_number and l.due_at = 'infinity' and webhooks.number = l.webhook
    and webhooks.enabled and ${within === null ? sql`true` : sql`logs.sealed_at >= ${fromNow(sql, -within)}`}
    and (logs.log > l.log and logs.checkpoint_size > 0 or logs.log = l.log and logs.checkpoint_size > l.position)`;

/** Milliseconds: longer than any wait for the next try. */
const longestWait = 27 * 60 * 60 * 1_000;

/** What was noted by a clock that was ahead counts from now: what is due later than any wait lasts, and failures to come. */
export async function wakeStray(sql: Sql): Promise<void> {
  await sql`
    with failing as (update webhooks set failing_since = clock_timestamp() where failing_since > clock_timestamp())
    update webhook_lanes set due_at = clock_timestamp(), line = null
    where due_at < 'infinity' and due_at > ${fromNow(sql, longestWait)}`;
}

/** What a worker needs to deliver a lane's next message. */
export interface Lane {
  number: number;
  type: MessageType;
  webhook: number;
  webhookId: string;
  /** its number */
  organization: number;
  organizationId: string;
  url: string;
  /** scheme, host and port of the URL */
  receiver: string;
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
  /** now, by the clock of Postgres */
  claimedAt: Date;
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
  /** milliseconds after which others may take it over */
  lease: number;
  line: Line;
  /** at most, in all, of one organization with what is running, and of one webhook likewise */
  limit: number;
  share: number;
  perWebhook: number;
  /** lanes that the process is still at, and from which line each is */
  running: (Pick<Lane, 'number' | 'webhook' | 'organization' | 'receiver'> & { line: Line })[];
  /** the organization, and of some the webhook, that had the last turn; 0 at the beginning */
  after: number;
  lastWebhooks: ReadonlyMap<number, number>;
}

export interface Claimed {
  lanes: Lane[];
  /** the organization that had the last turn; 0 where all have had theirs */
  after: number;
  /** of some organizations the webhook that had the last turn */
  lastWebhooks: Map<number, number>;
}

/** How many organizations a claim looks at whose lanes others are at. */
const passedOver = 64;
const lastNumber = 2 ** 31 - 1;
/** Lanes that one statement puts into their lines. */
const linedUp = 5_000;

/** Puts lanes that have become due into their lines. */
export const lineUp = (sql: Sql) => sql`
  with due as materialized (
    select number from webhook_lanes where line is null and due_at < 'infinity' and due_at <= statement_timestamp()
    order by due_at limit ${linedUp} for update skip locked
  )
  update webhook_lanes as l set ${inLine(sql)}
  from due, ${withOrganization(sql)}
  where l.number = due.number and webhooks.number = l.webhook`;

/**
 * Takes lanes that are in line: by turns over organizations, and then over the webhooks of each. A receiver that let its
 * last message time out has one place of its organization's.
 */
export async function claimLanes(sql: Sql, claiming: Claiming): Promise<Claimed> {
  const { by, lease, limit, share, perWebhook, running, after, lastWebhooks } = claiming;
  const line = sql`${lines[claiming.line]}::smallint`;
  const isFree = sql`(claimed_until is null or ${isReached(sql, sql`claimed_until`, 2 * lease)}) and l.number <> all(${running.map(({ number }) => number)}::bigint[])`;
  const inLine = running.filter((each) => each.line === claiming.line);
  const byOrganization = groupBy(inLine, ({ organization }) => organization);
  const full = [...byOrganization].flatMap(([organization, own]) => (own.length >= share ? [organization] : []));
  const looks = limit + full.length + passedOver;
  const rows = await sql<ClaimedRow[]>`
    -- each organization costs a look into the index, and each of its webhooks, however many of its lanes are due
    with recursive turns (organization, webhook, turn) as (
      (
        select organization, webhook, 1 from webhook_lanes where line = ${line} and organization > ${after}
        order by organization, webhook limit 1
      )
      union all
      select next.*, turn + (next.organization > turns.organization)::integer
      from turns cross join lateral (
        select organization, webhook from webhook_lanes
        where line = ${line} and (organization, webhook) > (
          turns.organization, case when turns.organization = any(${full}::integer[]) then ${lastNumber}::integer else turns.webhook end
        )
        order by organization, webhook limit 1
      ) as next
      where turn <= ${looks}
    ),
    running as materialized (
      select * from unnest(
        ${running.map(({ webhook }) => webhook)}::integer[], ${running.map(({ organization }) => organization)}::integer[],
        ${running.map(({ receiver }) => receiver)}::text[], ${running.map((each) => (each.line === claiming.line ? 1 : 0))}::integer[]
      ) as running (webhook, organization, receiver, is_in_line)
    ),
    last as materialized (
      select * from unnest(${[...lastWebhooks.keys()]}::integer[], ${[...lastWebhooks.values()]}::integer[])
        as last (organization, webhook)
    ),
    candidates as (
      select lane.number, turns.organization, receiver, hangs, own.number as webhook,
        busy + row_number() over (partition by own.number order by lane.due_at) as nth,
        own.number <= coalesce(last.webhook, 0) as was_before
      from turns join webhooks as own on own.number = turns.webhook
      left join last on last.organization = turns.organization
      cross join lateral (
        select exists (
          select from webhooks as other
          where other.organization_id = own.organization_id and other.receiver = own.receiver and other.timed_out
        ) as hangs, (select count(*) from running where running.webhook = own.number) as busy
      ) as state
      cross join lateral (
        select l.number, l.due_at from webhook_lanes as l
        where l.line = ${line} and l.organization = turns.organization and l.webhook = own.number
          and l.due_at <= statement_timestamp() and ${isFree} and (own.enabled or l.type = 'webhook.test')
        order by l.due_at
        limit greatest(0, ${perWebhook} - busy)
      ) as lane
      where turn <= ${looks} and turns.organization <> all(${full}::integer[])
    ),
    ranked as (
      select number, organization, row_number() over (partition by organization order by nth, was_before, webhook) as rank
      from (
        select *, row_number() over (
          partition by organization, receiver order by nth, was_before, webhook
        ) as of_receiver
        from candidates
      ) as candidate
      where not hangs or of_receiver = 1 and not exists (
        select from running where running.organization = candidate.organization and running.receiver = candidate.receiver
      )
    ),
    chosen as materialized (
      select number, rank from ranked
      where rank <= ${share} - (select count(*) from running where is_in_line = 1 and running.organization = ranked.organization)
      order by rank, organization limit ${limit}
    ),
    -- by itself: a join would be made with what a lane was before it was locked, and undo a replay or repeat a message
    locked as materialized (
      select l.number, l.domain_number, l.log, l.position, l.through from webhook_lanes as l
      where l.number in (select number from chosen) and ${isFree}
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
    ),
    claimed as (
      update webhook_lanes as l set
        claimed_by = case when idle then null else ${by}::uuid end,
        claimed_until = case when idle then null else ${fromNow(sql, lease)} end,
        due_at = case when idle then 'infinity' else due_at end,
        line = case when idle then null else line end,
        message_id = coalesce(l.message_id, 'msg_' || replace(gen_random_uuid()::text, '-', '')),
        made_at = coalesce(l.made_at, date_trunc('milliseconds', clock_timestamp())),
        log = coalesce(found.log, l.log), position = coalesce(found.first, l.position),
        through = coalesce(l.through, least(size, first + ${windowOf(sql)}))
      from found, webhooks
      where l.number = found.number and webhooks.number = l.webhook
      returning l.number, l.type, l.webhook, webhooks.id as "webhookId", l.organization,
        webhooks.organization_id as "organizationId", url, receiver,
        secret, case when previous_until > clock_timestamp() then previous_secret end as "previousSecret",
        to_json(decisions) as decisions, domain_number as "domainNumber",
        (select id from domains where domains.number = domain_number) as "domainId", l.log, position, l.through,
        message_id as "messageId", made_at as "madeAt", clock_timestamp() as "claimedAt", data, tries, idle as "isIdle",
        type = 'records.sealed' and ${isCapped(sql)} as "isCapped"
    )
    select claimed.*, rank, "lastTurn", "lastLook"
    from (
      select max(turn) as "lastTurn", max(organization) filter (where turn <= ${looks}) as "lastLook" from turns
    ) as ended
    left join (claimed join chosen using (number)) on true
    order by rank, organization`;
  const taken = rows.filter(isTaken);
  const isCut = taken.length === limit;
  const isEnd = (rows[0]?.lastTurn ?? 0) <= looks;
  const last = isCut ? taken.at(-1)?.organization : rows[0]?.lastLook;
  return {
    lanes: taken.filter(({ isIdle }) => !isIdle),
    after: isEnd && !isCut ? 0 : (last ?? 0),
    // in the order of their turns
    lastWebhooks: new Map(taken.map(({ organization, webhook }) => [organization, webhook])),
  };
}

interface ClaimedRow extends Omit<Lane, 'number'> {
  /** null where nothing was taken */
  number: number | null;
  isIdle: boolean;
  /** of the organization that was looked at last, and, where there are more, 1 more */
  lastTurn: number | null;
  lastLook: number | null;
}

const isTaken = (row: ClaimedRow): row is ClaimedRow & { number: number } => row.number !== null;

const windowOf = (sql: Sql) => sql`case l.type
  when 'records.sealed' then ${windows['records.sealed']}::bigint else ${windows['visitor.erased']}::bigint end`;

/** Whether the plan of `webhooks` holds entries back. */
const isCapped = (sql: Sql) => sql`
  (
    select not consent_log from organizations join plans on plans.name = plan
    where organizations.id = webhooks.organization_id
  )`;

/** A try that has just ended. */
export interface Try {
  /** that it took */
  milliseconds: number;
  status: number | null;
}

/** The message under way ends before the position `through` of the lane, at every further try too. */
export const endBefore = (sql: Sql, lane: Lane, by: string) => sql`
  update webhook_lanes set through = ${lane.through}
  where number = ${lane.number} and claimed_by = ${by}::uuid and message_id = ${lane.messageId}`;

/** The message was delivered, or, without a try, there was nothing in it: the lane goes on behind it. */
export async function goOn(sql: Sql, lane: Lane, by: string, tried?: Try): Promise<void> {
  const own = sql`number = ${lane.number} and claimed_by = ${by}::uuid`;
  await sql`
    with lane as (
      ${
        lane.domainNumber === null
          ? sql`delete from webhook_lanes where ${own} and message_id = ${lane.messageId}`
          : sql`
            update webhook_lanes set
              position = ${lane.through}, message_id = null, made_at = null, through = null, tries = 0,
              due_at = clock_timestamp(), line = ${lines.well}, claimed_by = null, claimed_until = null
            where ${own} and message_id = ${lane.messageId}`
      }
    )
    ${
      tried
        ? sql`
          , ${ended(sql, tried)}, told as (
            update webhooks set last_delivered_at = ended.began, failing_since = null, timed_out = false from ended
            where number = ${lane.webhook}
          ),
          ${othersAnswer(sql, lane)}
          ${insertDelivery(sql, lane, tried, null, null)}`
        : sql`select 1`
    }`;
}

/** Milliseconds in which a webhook whose last try failed is disabled; if that did not happen, one more try is due. */
const disabledWithin = 60_000;

/**
 * `wait`: milliseconds until it is tried again; null for never, since the webhook is disabled then. A test is tried once,
 * and says nothing about the rest.
 */
export async function fail(
  sql: Sql,
  lane: Lane,
  by: string,
  { tried, failure, wait }: { tried: Try; failure: Failure; wait: number | null },
): Promise<void> {
  const own = sql`number = ${lane.number} and claimed_by = ${by}::uuid and message_id = ${lane.messageId}`;
  const isTest = lane.type === 'webhook.test';
  await sql`
    with ${ended(sql, tried)}, lane as (
      ${
        isTest
          ? sql`delete from webhook_lanes where ${own}`
          : sql`
            update webhook_lanes set
              tries = tries + 1, due_at = ended.now + ${wait ?? disabledWithin} * interval '1 ms', line = null,
              claimed_by = null, claimed_until = null
            from ended where ${own}`
      }
    ),
    told as (
      update webhooks set
        failing_since = case when ${isTest} then failing_since else coalesce(failing_since, ended.began) end,
        timed_out = ${failure === 'timeout'}
      from ended where number = ${lane.webhook}
    )
    ${failure === 'timeout' ? sql`` : sql`, ${othersAnswer(sql, lane)}`}
    ${insertDelivery(sql, lane, tried, failure, wait)}`;
}

/** A receiver that answers one of the organization's webhooks does not let the others' messages time out. */
const othersAnswer = (sql: Sql, { webhook }: Lane) => sql`
  others as (
    update webhooks set timed_out = false where number in (
      select other.number
      from webhooks as own join webhooks as other
        on other.organization_id = own.organization_id and other.receiver = own.receiver
      where own.number = ${webhook} and other.number <> own.number and other.timed_out
      for update of other skip locked
    )
  )`;

/** Nothing was sent; it is looked at again after so many milliseconds. */
export const putOff = (sql: Sql, lane: Lane, by: string, wait: number) => sql`
  update webhook_lanes set due_at = ${fromNow(sql, wait)}, line = null, claimed_by = null, claimed_until = null
  where number = ${lane.number} and claimed_by = ${by}::uuid`;

/** What a process was at, once it ends. */
export const releaseLanes = (sql: Sql, by: string, numbers: number[]) => sql`
  update webhook_lanes set claimed_by = null, claimed_until = null
  where number = any(${numbers}::bigint[]) and claimed_by = ${by}::uuid`;

/** When a try ended, and when it began. */
const ended = (sql: Sql, { milliseconds }: Try) => sql`
  ended as materialized (
    select now, now - ${milliseconds} * interval '1 ms' as began
    from (select date_trunc('milliseconds', clock_timestamp()) as now) as clock
  )`;

/** Of a webhook that was deleted meanwhile nothing is kept. */
const insertDelivery = (
  sql: Sql,
  lane: Lane,
  { milliseconds, status }: Try,
  failure: Failure | null,
  wait: number | null,
) => sql`
  insert into webhook_deliveries (
    webhook, message_id, type, domain_number, log, first, size, attempt, at, milliseconds, failure, status, next_try_at
  )
  select number, ${lane.messageId}, ${lane.type}, ${lane.domainNumber}, ${lane.log}::integer, ${lane.position}::bigint,
    ${lane.through}::bigint, ${lane.tries + 1}, ended.began, ${milliseconds}, ${failure}, ${status}::integer,
    ended.now + ${wait}::float8 * interval '1 ms'
  from webhooks, ended where number = ${lane.webhook}`;
