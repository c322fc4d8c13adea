/**
 * Delivering: takes lanes that are due and sends their next messages. Postgres stores what is due and which process is
 * delivering it, so if a worker is killed, others take over its lanes. Redis is not involved.
 */

import { randomUUID } from 'node:crypto';
import type { Database } from '#libs/base/db/database';
import type { Scheduler } from '#libs/base/scheduler';
import { eighthOf } from '#libs/base/slots';
import { endsSoon } from '#libs/base/timers';
import { type Claimed, claimLanes, type Lane } from './claim.ts';
import { createDelivery, type DeliveryParts } from './delivery.ts';
import { addAllSilenceMessages } from './domain-silent-messages.ts';
import { type Line, lineUp } from './lanes.ts';
import { addLimitMessages } from './monthly-limit-messages.ts';
import { releaseLanes } from './outcomes.ts';
import { createWaking } from './waking.ts';

/** milliseconds */
const second = 1_000;
/** milliseconds from the end of a delivery to the next claim */
const followUp = 10;
/** longer than an attempt (at most 20 seconds) plus the statements before and after it (at most 10 seconds each) */
const lease = 60 * second;

/**
 * Messages under way in a process. Failing webhooks have slots of their own, so that they never delay the others. An
 * organization gets at most an eighth of the slots of each line. The claim applies this limit, so that lanes beyond it stay
 * free for other workers.
 */
const most: Record<Line, number> = { failing: 64, well: 256 };
const perWebhook = 4;
/** Organizations whose last turn is remembered. */
const mostRemembered = 1_000;

export interface Deliverer {
  /** Claims what is due, as far as there are slots, and starts to send it: one promise for each lane. */
  begin(): Promise<Promise<void>[]>;
  /** Wakes lanes that have something new to deliver, and adds those of new domains. */
  wake(): Promise<void>;
  /** Releases the lanes of this process. */
  release(): Promise<void>;
}

type Running = Map<number, Lane & { line: Line }>;

/** Has no timers: the worker calls it in rounds, and tests call it step by step. */
export function createDeliverer(parts: DeliveryParts): Deliverer {
  const { db, log } = parts;
  const by = randomUUID();
  const running: Running = new Map();
  const claim = createClaims(db, by, running);
  const deliver = createDelivery(parts, by);

  const start = async (lane: Lane, line: Line): Promise<void> => {
    running.set(lane.number, { ...lane, line });
    try {
      await deliver(lane);
    } catch (error) {
      // it is tried again once its lease ends
      const { webhookId } = lane;
      log.warn({ event: 'webhook_not_delivered', webhookId, err: error }, 'a message could not be delivered');
    } finally {
      running.delete(lane.number);
    }
  };
  const begin = async (line: Line): Promise<Promise<void>[]> => {
    const { lanes, isPartial } = await claim(line);
    const begun = lanes.map((lane) => start(lane, line));
    // The first claim began in the middle, so a second one covers the organizations before that.
    if (isPartial) begun.push(...(await claim(line)).lanes.map((lane) => start(lane, line)));
    return begun;
  };

  return {
    async begin() {
      await db.write(lineUp);
      return [...(await begin('well')), ...(await begin('failing'))];
    },
    wake: createWaking(db),
    release: async () => {
      const numbers = [...running.keys()];
      if (numbers.length === 0) return;
      try {
        await endsSoon(db.write((sql) => releaseLanes(sql, by, numbers)));
      } catch (error) {
        // their leases end by themselves
        const message = 'messages that are being delivered are tried again only after a while';
        log.warn({ event: 'lanes_not_released', err: error }, message);
      }
    },
  };
}

/**
 * Claims lanes of a line. Each claim continues after the organization where the previous one stopped. `isPartial`: the
 * claim began in the middle and reached the last organization, so those before its start have not had a turn.
 */
function createClaims(db: Database, by: string, running: Running) {
  /** for each line, the organization that had the last turn */
  const after: Record<Line, number> = { failing: 0, well: 0 };
  /** for each organization, the webhook that had the last turn */
  const lastWebhooks = new Map<number, number>();

  const remember = (line: Line, claimed: Claimed): void => {
    after[line] = claimed.after;
    for (const [organization, webhook] of claimed.lastWebhooks) {
      lastWebhooks.delete(organization);
      lastWebhooks.set(organization, webhook);
    }
    for (const organization of lastWebhooks.keys()) {
      if (lastWebhooks.size <= mostRemembered) break;
      lastWebhooks.delete(organization);
    }
  };

  return async (line: Line): Promise<{ lanes: Lane[]; isPartial: boolean }> => {
    const own = [...running.values()];
    const limit = most[line] - own.filter((each) => each.line === line).length;
    if (limit <= 0) return { lanes: [], isPartial: false };
    const from = after[line];
    const share = eighthOf(most[line]);
    const claimed = await db.write((sql) =>
      claimLanes(sql, { by, lease, line, limit, share, perWebhook, running: own, after: from, lastWebhooks }),
    );
    remember(line, claimed);
    return { lanes: claimed.lanes, isPartial: from > 0 && claimed.after === 0 };
  };
}

/**
 * `second`: milliseconds that count as a second: 1,000, but fewer in tests. The intervals of all rounds below scale with
 * it. Lanes are woken once a second and claimed twice a second. `areRecordsWaiting`: resolves to true if records may still
 * be waiting to be stored. Then no silence messages are added, because a domain could look silent only because its records
 * are late. Call `close` only after the scheduler has stopped: it releases the lanes that are still being delivered.
 */
export function scheduleDelivering(
  { every }: Pick<Scheduler, 'every'>,
  { second, areRecordsWaiting, ...parts }: DeliveryParts & { second: number; areRecordsWaiting(): Promise<boolean> },
): { close(): Promise<void> } {
  const deliverer = createDeliverer(parts);
  const { db, log } = parts;
  const round = (name: string, pace: number, task: () => Promise<unknown>, one = false) =>
    every({
      name,
      pace,
      exclusive: one,
      task,
      failed: (error, isNews) => {
        if (!isNews) return;
        log.warn({ event: 'delivering_failed', err: error, task: name }, 'delivering failed, and is tried again');
      },
    });
  let soon: NodeJS.Timeout | undefined;
  const rounds = round('deliver', second / 2, async () => {
    for (const each of await deliverer.begin()) void each.then(beginSoon);
  });
  /** A lane that is done may have more; lanes that end together share one claim. */
  const beginSoon = () => {
    soon ??= setTimeout(() => {
      soon = undefined;
      void rounds.now();
    }, followUp);
  };
  round('wake_lanes', second, () => deliverer.wake());
  round('limit_messages', 10 * second, () => db.write(addLimitMessages), true);
  round('silence_messages', 300 * second, async () => (await areRecordsWaiting()) || addAllSilenceMessages(db), true);
  return {
    close: async () => {
      clearTimeout(soon);
      await deliverer.release();
    },
  };
}
