/** Outcomes: how a lane continues after an attempt, or without one. Each attempt is stored as a delivery. */

import type { Sql } from '#libs/base/db/database';
import { fromNow } from '#libs/base/db/postgres-time';
import type { Lane } from './claim.ts';
import type { Failure } from './contract.ts';
import { lines } from './lanes.ts';

/** One that has just ended. */
export interface Attempt {
  milliseconds: number;
  status: number | null;
}

/** Stores that the message ends before `lane.through`, so that later attempts end there, too. */
export const endBefore = (sql: Sql, lane: Lane, by: string) => sql`
  update webhook_lanes set through = ${lane.through}
  where number = ${lane.number} and claimed_by = ${by}::uuid and message_id = ${lane.messageId}`;

/**
 * Moves the lane past a message that was delivered, or past entries that yielded no message; in that case `attempt` is
 * absent.
 */
export async function advance(sql: Sql, lane: Lane, by: string, attempt?: Attempt): Promise<void> {
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
      attempt
        ? sql`
          , ${ended(sql, attempt)}, webhook as (
            update webhooks set last_delivered_at = ended.began, failing_since = null, timed_out = false from ended
            where number = ${lane.webhook}
          ),
          ${unmarkTimedOut(sql, lane)}
          ${insertDelivery(sql, lane, attempt, null, null)}`
        : sql`select 1`
    }`;
}

/** Whether this log or a later one has entries after the message. Entries that are sealed meanwhile wake the lane. */
const hasMore = (sql: Sql, { domainNumber, log, through }: Lane) => sql`
  select exists (
    select from logs where domain_number = ${domainNumber} and (
      logs.log = ${log} and checkpoint_size > ${through} or logs.log > ${log} and checkpoint_size > 0
    )
  ) as more`;

/**
 * After the last attempt, the worker disables the webhook. If it dies before that, the lane is due again after this many
 * milliseconds, for one more attempt.
 */
const disabledWithin = 60_000;

/**
 * `wait`: milliseconds until the next attempt; null if the webhook is disabled instead. A test is attempted once, and its
 * failure leaves `failing_since` alone; `timed_out` is set as for any other message. `atMost`: if given, the maximum number
 * of entries in the lane's messages from now on; the failed attempt is then not counted.
 */
export async function fail(
  sql: Sql,
  lane: Lane,
  by: string,
  {
    attempt,
    failure,
    wait,
    atMost,
  }: { attempt: Attempt; failure: Failure; wait: number | null; atMost?: number | undefined },
): Promise<void> {
  const own = sql`number = ${lane.number} and claimed_by = ${by}::uuid and message_id = ${lane.messageId}`;
  const isTest = lane.type === 'webhook.test';
  await sql`
    with ${ended(sql, attempt)}, lane as (
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
    webhook as (
      update webhooks set
        failing_since = case when ${isTest} then failing_since else coalesce(failing_since, ended.began) end,
        timed_out = ${failure === 'timeout'}
      from ended where number = ${lane.webhook}
    )
    ${failure === 'timeout' ? sql`` : sql`, ${unmarkTimedOut(sql, lane)}`}
    ${insertDelivery(sql, lane, attempt, failure, wait)}`;
}

/**
 * Once an attempt ends in anything but a timeout, the receiver no longer counts as timing out for the organization's other
 * webhooks.
 */
const unmarkTimedOut = (sql: Sql, { webhook }: Lane) => sql`
  others as (
    update webhooks set timed_out = false where number in (
      select other.number
      from webhooks as own join webhooks as other
        on other.organization_id = own.organization_id and other.receiver = own.receiver
      where own.number = ${webhook} and other.number <> own.number and other.timed_out
      for update of other skip locked
    )
  )`;

/** Nothing was sent: retried after this many milliseconds. */
export const postpone = (sql: Sql, lane: Lane, by: string, wait: number) => sql`
  update webhook_lanes set due_at = ${fromNow(sql, wait)}, line = null, claimed_by = null, claimed_until = null
  where number = ${lane.number} and claimed_by = ${by}::uuid`;

/** Releases the lanes that a process has claimed, when it stops. */
export const releaseLanes = (sql: Sql, by: string, numbers: number[]) => sql`
  update webhook_lanes set claimed_by = null, claimed_until = null
  where number = any(${numbers}::bigint[]) and claimed_by = ${by}::uuid`;

/** When the attempt ended, and when it began. */
const ended = (sql: Sql, { milliseconds }: Attempt) => sql`
  ended as materialized (
    select now, now - ${milliseconds} * interval '1 ms' as began
    from (select date_trunc('milliseconds', clock_timestamp()) as now) as clock
  )`;

/** A single message may be about a domain as well. */
const domainNumberOf = (sql: Sql, { domainNumber, data }: Lane) => sql`
  coalesce(${domainNumber}::integer, (select number from domains where id = ${String(data?.domainId ?? '')}))`;

/** Inserts nothing if the webhook has been deleted meanwhile. */
const insertDelivery = (
  sql: Sql,
  lane: Lane,
  { milliseconds, status }: Attempt,
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
