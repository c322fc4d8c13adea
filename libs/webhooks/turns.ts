/** Turns: which lanes in line are next. Each step is a part of the statement that claims them. */

import type { Sql } from '#libs/base/db/database';
import { hasPassed } from '#libs/base/db/postgres-time';
import { groupBy } from '#libs/base/group-by';
import { type Line, lines } from './lanes.ts';

export interface Claiming {
  /** the process */
  by: string;
  /** milliseconds after which other processes may claim a lane that this one has claimed */
  lease: number;
  line: Line;
  /** most lanes to claim now */
  limit: number;
  /** most lanes of one organization, including those running from this line */
  share: number;
  /** most lanes of one webhook, including those running */
  perWebhook: number;
  /** lanes that the process is delivering, and the line each came from */
  running: { number: number; webhook: number; organization: number; receiver: string; line: Line }[];
  /** the organization that had the last turn; 0 at the start */
  after: number;
  /** for each organization, the webhook that had the last turn */
  lastWebhooks: ReadonlyMap<number, number>;
}

export interface Round extends Claiming {
  /** organizations at their share */
  full: number[];
  /** how many organizations it visits at most */
  visits: number;
}

/** Extra organizations that a claim visits, because other workers may already have claimed every lane of some of them. */
const visitedInVain = 64;
const highestNumber = 2 ** 31 - 1;

type Fragment = ReturnType<Sql>;

export function planRound(claiming: Claiming): Round {
  const byOrganization = groupBy(runningFrom(claiming), ({ organization }) => organization);
  const full = [...byOrganization].flatMap(([organization, { length }]) =>
    length >= claiming.share ? [organization] : [],
  );
  return { ...claiming, full, visits: claiming.limit + full.length + visitedInVain };
}

const runningFrom = ({ running, line }: Claiming) => running.filter((lane) => lane.line === line);

const lineOf = (sql: Sql, { line }: Claiming): Fragment => sql`${lines[line]}::smallint`;

export const isUnclaimed = (sql: Sql, { lease, running }: Claiming): Fragment => sql`
  (claimed_until is null or ${hasPassed(sql, sql`claimed_until`, 2 * lease)})
  and l.number <> all(${running.map(({ number }) => number)}::bigint[])`;

/** How often the value is in the list. */
const countOf = (sql: Sql, list: number[], value: Fragment): Fragment =>
  sql`cardinality(array_positions(${list}::integer[], ${value}))`;

/**
 * Lists the webhooks that have lanes in line, organization by organization. A webhook costs one index lookup, however many
 * of its lanes are due. An organization that has used up its share costs only one in all.
 */
export const visitWebhooks = (sql: Sql, round: Round): Fragment => sql`
  (
    select organization, webhook, 1 from webhook_lanes
    where line = ${lineOf(sql, round)} and organization > ${round.after}
    order by organization, webhook limit 1
  )
  union all
  select next.*, turn + (next.organization > visited.organization)::integer
  from visited cross join lateral (
    select organization, webhook from webhook_lanes
    where line = ${lineOf(sql, round)} and (organization, webhook) > (
      visited.organization,
      case when visited.organization = any(${round.full}::integer[]) then ${highestNumber}::integer else visited.webhook end
    )
    order by organization, webhook limit 1
  ) as next
  where turn <= ${round.visits}`;

/**
 * The lanes of these webhooks that are due and not claimed. `nth`: the lane's rank within its webhook, counted after the
 * lanes that this process is already delivering.
 */
export const findDueLanes = (sql: Sql, round: Round): Fragment => {
  const { running, lastWebhooks, perWebhook } = round;
  const busy = countOf(
    sql,
    running.map(({ webhook }) => webhook),
    sql`own.number`,
  );
  return sql`
    select lane.number, organization, receiver, webhook, busy + lane.nth as nth,
      webhook <= coalesce(
        (${[...lastWebhooks.values()]}::integer[])[array_position(${[...lastWebhooks.keys()]}::integer[], organization)], 0
      ) as had_turn,
      exists (
        select from webhooks as other
        where other.organization_id = own.organization_id and other.receiver = own.receiver and other.timed_out
      ) as times_out
    from visited join webhooks as own on own.number = webhook
    cross join lateral (select ${busy} as busy) as process
    cross join lateral (
      select l.number, row_number() over (order by l.due_at) as nth from webhook_lanes as l
      where l.line = ${lineOf(sql, round)} and l.organization = visited.organization and l.webhook = own.number
        and l.due_at <= statement_timestamp() and ${isUnclaimed(sql, round)} and (own.enabled or l.type = 'webhook.test')
      order by l.due_at
      limit greatest(0, ${perWebhook} - busy)
    ) as lane
    where turn <= ${round.visits} and organization <> all(${round.full}::integer[])`;
};

/** The webhooks of an organization take turns. A receiver that times out gets only one lane at a time from each process. */
export const rankWithinOrganization = (sql: Sql, { running }: Claiming): Fragment => sql`
  select number, organization, row_number() over (partition by organization order by nth, had_turn, webhook) as rank
  from (
    select *, row_number() over (partition by organization, receiver order by nth, had_turn, webhook) as of_receiver
    from due
  ) as due
  where not times_out or of_receiver = 1 and organization || ' ' || receiver <> all(
    ${running.map(({ organization, receiver }) => `${organization} ${receiver}`)}::text[]
  )`;

/** Organizations take turns, each within its share. */
export const chooseByTurns = (sql: Sql, round: Round): Fragment => {
  const organizations = runningFrom(round).map(({ organization }) => organization);
  return sql`
    select number, rank from ranked
    where rank <= ${round.share} - ${countOf(sql, organizations, sql`organization`)}
    order by rank, organization limit ${round.limit}`;
};
