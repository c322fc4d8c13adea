/**
 * Delivering: takes lanes that are due and sends their next messages. What is due, and who is at it, is in Postgres; a
 * worker that is killed leaves its lanes to the others, and Redis has no part in it.
 */

import { randomUUID } from 'node:crypto';
import type { Database } from '#libs/base/db/database';
import type { Log } from '#libs/base/ops/process-log';
import { createPlaces, eighthOf } from '#libs/base/places';
import type { Scheduler } from '#libs/base/scheduler';
import { createSecretBox } from '#libs/base/secret-box';
import { endsSoon } from '#libs/base/timers';
import { createWebhookAdministration, usualBytes } from './administration.ts';
import { claimLanes, type Lane } from './claim.ts';
import type { Headers } from './contract.ts';
import { endBefore, fail, goOn, putOff, releaseLanes } from './ended-tries.ts';
import { type Line, lineUp, longestPutOff } from './lanes.ts';
import { addLimitMessages } from './limit-messages.ts';
import { readMessage, sign } from './message.ts';
import type { WebhookMetrics } from './metrics.ts';
import { nextTry } from './retries.ts';
import { openHeaders } from './secret.ts';
import { type Sender, send } from './send.ts';
import { tellSilence } from './silence-messages.ts';
import { createWaking } from './waking.ts';

/** milliseconds */
const second = 1_000;
/** after a lane is done */
const followUp = 10;
/** longer than a try, of 20 seconds at most, and what is claimed, read and written around it, of 10 seconds each */
const lease = 60 * second;

/**
 * Messages under way in a process. Those that failed before are counted separately, and take no room from the others. Of
 * either an organization has an eighth, which the statement that claims them enforces, because workers share what is due.
 */
const most: Record<Line, number> = { failing: 64, well: 256 };
/** and of one webhook */
const perWebhook = 4;
/** Of these, messages that may be larger than usual, at some megabytes of memory each; an organization has an eighth. */
const largeOnes = 32;
/** milliseconds after which one that found no place is due again */
const largeAgain = second;
/** Organizations of which it is remembered which webhook had the last turn. */
const remembered = 1_000;

interface DeliveringParts {
  secretsKey: Buffer;
  previousSecretsKey?: Buffer | undefined;
  sender: Sender;
  db: Database;
  log: Pick<Log, 'info' | 'warn' | 'error'>;
  metrics: Pick<WebhookMetrics, 'webhookTries'>;
  /** from 0 to 1 */
  chance?: () => number;
}

export interface Deliverer {
  /** Takes what is due, as far as there are places, and begins to send it: one promise for each lane. */
  begin(): Promise<Promise<void>[]>;
  /** Wakes what has something new to deliver, also of domains that are new. */
  wake(): Promise<void>;
  /** Gives back what it is at. */
  release(): Promise<void>;
}

interface Secrets {
  signing: Buffer[];
  headers: Headers;
}

/** Without timers: what the worker does, and tests do step by step. */
export function createDeliverer(parts: DeliveringParts): Deliverer {
  const { secretsKey, previousSecretsKey, sender, db, log, metrics, chance = Math.random } = parts;
  const box = createSecretBox(secretsKey, previousSecretsKey);
  const by = randomUUID();
  const running = new Map<number, Lane & { line: Line }>();
  /** the organization that had the last turn, and of each its webhook */
  const after: Record<Line, number> = { failing: 0, well: 0 };
  const lastWebhooks = new Map<number, number>();
  const admin = createWebhookAdministration(db, 'worker');
  const large = createPlaces({ places: largeOnes });

  const secretsOf = ({ webhookId, secret, previousSecret, headers }: Lane): Secrets | undefined => {
    try {
      return {
        signing: [secret, ...(previousSecret ? [previousSecret] : [])].map((sealed) => box.open(webhookId, sealed)),
        headers: openHeaders(box, webhookId, headers),
      };
    } catch (error) {
      log.error(
        { event: 'webhook_secret', webhookId, err: error },
        'the secret of a webhook is under another SECRETS_KEY',
      );
      return undefined;
    }
  };

  const deliver = async (claimed: Lane): Promise<void> => {
    const begun = performance.now();
    const secrets = claimed.isCapped ? undefined : secretsOf(claimed);
    if (!secrets) return void (await db.write((sql) => putOff(sql, claimed, by, longestPutOff)));
    const message = await db.read((sql) => readMessage(sql, claimed));
    if (!message) return db.write((sql) => goOn(sql, claimed, by));
    const lane = { ...claimed, through: message.through };
    if (lane.through !== claimed.through) await db.write((sql) => endBefore(sql, lane, by));
    const body = JSON.stringify({ type: lane.type, timestamp: message.at.toISOString(), data: message.data });
    const begin = performance.now();
    const at = new Date(lane.claimedAt.getTime() + begin - begun);
    const headers = { ...secrets.headers, ...sign(lane.messageId, at, body, secrets.signing) };
    const sent = await send(sender, lane.url, headers, body);
    const tried = { milliseconds: Math.round(performance.now() - begin), status: sent.status };
    metrics.webhookTries.inc({ outcome: sent.failure ?? 'delivered' });
    if (sent.failure === null) return db.write((sql) => goOn(sql, lane, by, tried));
    const { failure } = sent;
    const isTest = lane.type === 'webhook.test';
    if (sent.status === 413 && message.count > 1) {
      const atMost = Math.floor(message.count / 2);
      return db.write((sql) => fail(sql, lane, by, { tried, failure, wait: 0, atMost }));
    }
    const isGone = failure === 'gone';
    const wait = isTest || isGone ? null : nextTry(lane.tries + 1, sent.retryAfter, chance());
    await db.write((sql) => fail(sql, lane, by, { tried, failure, wait }));
    if (isTest || wait !== null) return;
    const { webhook: number, webhookId, organizationId } = lane;
    const reason = isGone ? 'gone' : 'every try failed';
    if (await admin.disable({ number, webhookId, organizationId }, reason))
      log.warn({ event: 'webhook_disabled', webhookId, reason }, 'a webhook was disabled');
  };

  const deliverLarge = async (claimed: Lane): Promise<void> => {
    const leave = large.tryTake(claimed.organizationId);
    if (!leave) return void (await db.write((sql) => putOff(sql, claimed, by, largeAgain)));
    try {
      await deliver(claimed);
    } finally {
      leave();
    }
  };

  const start = async (lane: Lane, line: Line): Promise<void> => {
    running.set(lane.number, { ...lane, line });
    try {
      await (lane.maxBytes > usualBytes ? deliverLarge(lane) : deliver(lane));
    } catch (error) {
      // its lease ends, and then it is tried again
      log.warn(
        { event: 'webhook_not_delivered', webhookId: lane.webhookId, err: error },
        'a message could not be delivered',
      );
    } finally {
      running.delete(lane.number);
    }
  };

  const claim = async (line: Line): Promise<Lane[]> => {
    const own = [...running.values()];
    const limit = most[line] - own.filter((each) => each.line === line).length;
    if (limit <= 0) return [];
    const claimed = await db.write((sql) =>
      claimLanes(sql, {
        by,
        lease,
        line,
        limit,
        share: eighthOf(most[line]),
        perWebhook,
        running: own,
        after: after[line],
        lastWebhooks,
      }),
    );
    after[line] = claimed.after;
    for (const [organization, webhook] of claimed.lastWebhooks) {
      lastWebhooks.delete(organization);
      lastWebhooks.set(organization, webhook);
    }
    for (const organization of lastWebhooks.keys()) {
      if (lastWebhooks.size <= remembered) break;
      lastWebhooks.delete(organization);
    }
    return claimed.lanes;
  };
  const begin = async (line: Line): Promise<Promise<void>[]> => {
    const isFromStart = after[line] === 0;
    const begun = (await claim(line)).map((lane) => start(lane, line));
    // those that come before whoever had the last turn
    if (!isFromStart && after[line] === 0) begun.push(...(await claim(line)).map((lane) => start(lane, line)));
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
 * `second`: milliseconds between two rounds of waking; lanes that are due are taken twice as often. `mayRecordsWait`: some
 * may not be stored yet, and then no domain is called silent. What is returned gives back what the process is at, once the
 * rounds are over.
 */
export function scheduleDelivering(
  { every }: Pick<Scheduler, 'every'>,
  { second, mayRecordsWait, ...parts }: DeliveringParts & { second: number; mayRecordsWait(): Promise<boolean> },
): { close(): Promise<void> } {
  const deliverer = createDeliverer(parts);
  const { db, log } = parts;
  const round = (name: string, pace: number, task: () => Promise<unknown>, one = false) =>
    every({
      name,
      pace,
      one,
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
  /** A lane that is done may have more; those that end together are followed up together. */
  const beginSoon = () => {
    soon ??= setTimeout(() => {
      soon = undefined;
      void rounds.now();
    }, followUp);
  };
  round('wake_lanes', second, () => deliverer.wake());
  round('tell_limits', 10 * second, () => db.write(addLimitMessages), true);
  round('tell_silence', 300 * second, async () => (await mayRecordsWait()) || tellSilence(db), true);
  return {
    close: async () => {
      clearTimeout(soon);
      await deliverer.release();
    },
  };
}
