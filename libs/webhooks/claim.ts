/** Claiming: a process takes lanes that are due, to deliver their next messages. */

import type { Sql } from '#libs/base/db/database';
import { fromNow, hasPassed } from '#libs/base/db/postgres-time';
import { groupBy } from '#libs/base/group-by';
import type { Decision } from '#libs/base/terms/terms';
import type { MessageType } from './contract.ts';
import { type Line, lines } from './lanes.ts';

/** positions in one message */
const windows = { 'records.sealed': 100, 'visitor.erased': 10_000 };

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
  /** sealed */
  headers: Buffer | null;
  /** bytes of a message, and entries in it, where the receiver took no more */
  maxBytes: number;
  atMost: number | null;
  decisions: Decision[] | null;
  domainNumber: number | null;
  domainId: string | null;
  log: number | null;
  position: number | null;
  /** the position after its last; null where there is nothing to deliver */
  through: number | null;
  messageId: string;
  /** of a single message */
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

interface Claimed {
  lanes: Lane[];
  /** the organization that had the last turn; 0 where all have had theirs */
  after: number;
  /** of some organizations the webhook that had the last turn */
  lastWebhooks: Map<number, number>;
}

/** How many organizations a claim looks at whose lanes others are at. */
const passedOver = 64;
const lastNumber = 2 ** 31 - 1;

/**
 * Takes lanes that are in line: by turns over organizations, and then over the webhooks of each. A receiver that let its
 * last message time out has one place of its organization's.
 */
export async function claimLanes(sql: Sql, claiming: Claiming): Promise<Claimed> {
  const { by, lease, limit, share, perWebhook, running, after, lastWebhooks } = claiming;
  const line = sql`${lines[claiming.line]}::smallint`;
  const isFree = sql`(claimed_until is null or ${hasPassed(sql, sql`claimed_until`, 2 * lease)}) and l.number <> all(${running.map(({ number }) => number)}::bigint[])`;
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
        headers, max_bytes as "maxBytes", l.at_most as "atMost",
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
