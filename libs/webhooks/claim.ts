/** Claiming: a process takes lanes that are due, to deliver their next messages. */

import type { Sql } from '#libs/base/db/database';
import { fromNow } from '#libs/base/db/postgres-time';
import type { Decision } from '#libs/base/terms/terms';
import type { MessageType } from './contract.ts';
import {
  type Claiming,
  chooseByTurns,
  findDueLanes,
  isUnclaimed,
  planRound,
  type Round,
  rankWithinOrganization,
  visitWebhooks,
} from './turns.ts';

/** the most positions of the log that one message covers, whether or not each yields an entry */
const windows = { 'records.sealed': 100, 'visitor.erased': 10_000 };

/** A claimed lane, with all that a worker needs to deliver its next message. */
export interface Lane {
  number: number;
  type: MessageType;
  webhook: number;
  webhookId: string;
  /** the number */
  organization: number;
  organizationId: string;
  url: string;
  /** scheme, host and port of the URL */
  receiver: string;
  secret: Buffer;
  /** signs as well, after a rotation */
  previousSecret: Buffer | null;
  /** encrypted, as are the two secrets */
  headers: Buffer | null;
  /** the largest message, in bytes */
  maxBytes: number;
  /** most entries in a message, if the receiver has refused a larger one; null: no such limit */
  atMost: number | null;
  decisions: Decision[] | null;
  domainNumber: number | null;
  domainId: string | null;
  log: number | null;
  position: number | null;
  /** the position before which the message ends; null for a single message */
  through: number | null;
  messageId: string;
  /** when the message was made; used only for a single message */
  madeAt: Date;
  /** now, by the clock of Postgres */
  claimedAt: Date;
  /** of a single message */
  data: Record<string, string | number> | null;
  /** attempts that failed */
  tries: number;
  /** its messages are held back: they are `records.sealed`, and the plan does not include the log */
  isCapped: boolean;
}

export interface Claimed {
  lanes: Lane[];
  /** the organization that had the last turn; 0 once all have had theirs */
  after: number;
  /** by organization, the webhook that had the last turn */
  lastWebhooks: Map<number, number>;
}

type Fragment = ReturnType<Sql>;

/**
 * Claims lanes in line: by turns over organizations, and then over the webhooks of each. A receiver whose last attempt
 * timed out gets at most one lane of its organization's share.
 */
export async function claimLanes(sql: Sql, claiming: Claiming): Promise<Claimed> {
  const round = planRound(claiming);
  const rows = await sql<ClaimedRow[]>`
    with recursive visited (organization, webhook, turn) as (${visitWebhooks(sql, round)}),
    due as (${findDueLanes(sql, round)}),
    ranked as (${rankWithinOrganization(sql, round)}),
    chosen as materialized (${chooseByTurns(sql, round)}),
    locked as materialized (${lockChosen(sql, round)}),
    next as (${findNextEntries(sql)}),
    claimed as (${writeClaims(sql, round)}),
    visit as (
      select max(turn) > ${round.visits} as "isCut", max(organization) filter (where turn <= ${round.visits}) as "lastVisited"
      from visited
    )
    select claimed.*, rank, visit.*
    from visit left join (claimed join chosen using (number)) on true
    order by rank, organization`;
  const taken = rows.filter(isTaken);
  return {
    lanes: taken.filter(({ isIdle }) => !isIdle),
    after: lastTurn(claiming, rows[0], taken),
    // in the order of their turns
    lastWebhooks: new Map(taken.map(({ organization, webhook }) => [organization, webhook])),
  };
}

interface ClaimedRow extends Omit<Lane, 'number'> {
  /** null if nothing was claimed */
  number: number | null;
  /** the lane has nothing to deliver */
  isIdle: boolean;
  /** more organizations are in line than were visited; null if none is in line */
  isCut: boolean | null;
  lastVisited: number | null;
}

type TakenRow = ClaimedRow & { number: number };
const isTaken = (row: ClaimedRow): row is TakenRow => row.number !== null;

/** The organization to continue after; 0 if all have had a turn. */
function lastTurn({ limit }: Claiming, visit: ClaimedRow | undefined, taken: TakenRow[]): number {
  if (taken.length === limit) return taken.at(-1)?.organization ?? 0;
  return (visit?.isCut && visit.lastVisited) || 0;
}

/**
 * A step of its own, so that it returns each lane as it stands after the lock is taken. A join would see the older row, and
 * could undo a replay or send a message twice.
 */
const lockChosen = (sql: Sql, round: Round): Fragment => sql`
  select l.number, l.domain_number, l.log, l.position, l.through from webhook_lanes as l
  where l.number in (select number from chosen) and ${isUnclaimed(sql, round)}
  for update skip locked`;

/**
 * Where a domain's lane continues in the logs if its next message is not fixed yet (`through` is null). If nothing is left
 * there, the lane is idle.
 */
const findNextEntries = (sql: Sql): Fragment => sql`
  select l.number, entries.log, entries.first, entries.size,
    l.domain_number is not null and l.through is null and entries.log is null as idle
  from locked as l left join lateral (
    select logs.log, place.first, checkpoint_size as size
    from logs cross join lateral (select case when logs.log = l.log then l.position else 0 end as first) as place
    where domain_number = l.domain_number and l.through is null and logs.log >= l.log and checkpoint_size > place.first
    order by logs.log limit 1
  ) as entries on true`;

/**
 * Claims the lanes for the process and fixes each one's next message (id, time, range of entries). Idle lanes leave the
 * line.
 */
const writeClaims = (sql: Sql, { by, lease }: Claiming): Fragment => sql`
  update webhook_lanes as l set
    claimed_by = case when idle then null else ${by}::uuid end,
    claimed_until = case when idle then null else ${fromNow(sql, lease)} end,
    due_at = case when idle then 'infinity' else due_at end,
    line = case when idle then null else line end,
    message_id = coalesce(l.message_id, 'msg_' || replace(gen_random_uuid()::text, '-', '')),
    made_at = coalesce(l.made_at, date_trunc('milliseconds', clock_timestamp())),
    log = coalesce(next.log, l.log), position = coalesce(next.first, l.position),
    through = coalesce(l.through, least(size, first + ${windowOf(sql)}))
  from next, webhooks
  where l.number = next.number and webhooks.number = l.webhook
  returning l.number, l.type, l.webhook, webhooks.id as "webhookId", l.organization,
    webhooks.organization_id as "organizationId", url, receiver,
    secret, case when previous_until > clock_timestamp() then previous_secret end as "previousSecret",
    headers, max_bytes as "maxBytes", l.at_most as "atMost",
    to_json(decisions) as decisions, domain_number as "domainNumber",
    (select id from domains where domains.number = domain_number) as "domainId", l.log, position, l.through,
    message_id as "messageId", made_at as "madeAt", clock_timestamp() as "claimedAt", data, tries, idle as "isIdle",
    type = 'records.sealed' and ${isCapped(sql)} as "isCapped"`;

const windowOf = (sql: Sql): Fragment => sql`case l.type
  when 'records.sealed' then ${windows['records.sealed']}::bigint else ${windows['visitor.erased']}::bigint end`;

/** Whether the organization's plan does not include the log. */
const isCapped = (sql: Sql): Fragment => sql`
  (
    select not consent_log from organizations join plans on plans.name = plan
    where organizations.id = webhooks.organization_id
  )`;
