/** What becomes of a lane after a try, or without one; each try is kept as a delivery. */

import type { Sql } from '#libs/base/db/database';
import { fromNow } from '#libs/base/db/postgres-time';
import type { Lane } from './claim.ts';
import type { Failure } from './contract.ts';
import { lines } from './lanes.ts';

/** A try that has just ended. */
interface Try {
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
              due_at = case when more then clock_timestamp() else 'infinity' end,
              line = case when more then ${lines.well}::smallint end, claimed_by = null, claimed_until = null
            from (${hasMore(sql, lane)}) as rest
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

/** Whether the log goes on behind the message, or another one does. What is sealed right now wakes the lane. */
const hasMore = (sql: Sql, { domainNumber, log, through }: Lane) => sql`
  select exists (
    select from logs where domain_number = ${domainNumber} and (
      logs.log = ${log} and checkpoint_size > ${through} or logs.log > ${log} and checkpoint_size > 0
    )
  ) as more`;

/** Milliseconds in which a webhook whose last try failed is disabled; if that did not happen, one more try is due. */
const disabledWithin = 60_000;

/**
 * `wait`: milliseconds until it is tried again; null for never, since the webhook is disabled then. A test is tried once,
 * and says nothing about the rest. `atMost`: entries that its messages have from now on; the try then does not count as one.
 */
export async function fail(
  sql: Sql,
  lane: Lane,
  by: string,
  { tried, failure, wait, atMost }: { tried: Try; failure: Failure; wait: number | null; atMost?: number | undefined },
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
              ${atMost === undefined ? sql`tries = tries + 1` : sql`at_most = ${atMost}`}, due_at = ended.now + ${wait ?? disabledWithin} * interval '1 ms', line = null,
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

/** A single message may be about a domain, too. */
const domainNumberOf = (sql: Sql, { domainNumber, data }: Lane) => sql`
  coalesce(${domainNumber}::integer, (select number from domains where id = ${String(data?.domainId ?? '')}))`;

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
  select number, ${lane.messageId}, ${lane.type}, ${domainNumberOf(sql, lane)}, ${lane.log}::integer, ${lane.position}::bigint,
    ${lane.through}::bigint, ${lane.tries + 1}, ended.began, ${milliseconds}, ${failure}, ${status}::integer,
    ended.now + ${wait}::float8 * interval '1 ms'
  from webhooks, ended where number = ${lane.webhook}`;
