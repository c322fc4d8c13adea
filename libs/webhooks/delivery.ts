/** One delivery: sends the next message of a claimed lane, and records the outcome. */

import type { Database } from '#libs/base/db/database';
import type { Log } from '#libs/base/ops/process-log';
import { createSecretBox } from '#libs/base/secret-box';
import { createSlots } from '#libs/base/slots';
import { createWebhookAdministration, usualBytes } from './administration.ts';
import type { Lane } from './claim.ts';
import type { Failure, Headers } from './contract.ts';
import { longestPostponed } from './lanes.ts';
import { type Message, readMessage, sign } from './message.ts';
import type { WebhookMetrics } from './metrics.ts';
import { type Attempt, advance, endBefore, fail, postpone } from './outcomes.ts';
import { nextWait } from './retries.ts';
import { openHeaders } from './secret.ts';
import { type Sender, send } from './send.ts';

/**
 * Most large deliveries at once in a process, because each takes several megabytes of memory. A delivery is large if the
 * webhook's `maxBytes` is above the default. One organization gets at most an eighth of them.
 */
const mostLarge = 32;
/** milliseconds until a large delivery that found no free slot is due again */
const largeAgain = 1_000;

export interface DeliveryParts {
  secretsKey: Buffer;
  previousSecretsKey?: Buffer | undefined;
  sender: Sender;
  db: Database;
  log: Pick<Log, 'info' | 'warn' | 'error'>;
  metrics: Pick<WebhookMetrics, 'webhookTries'>;
  /** from 0 to 1 */
  chance?: () => number;
}

interface Secrets {
  signing: Buffer[];
  headers: Headers;
}

/** `by`: the process that has claimed the lanes. */
export function createDelivery(parts: DeliveryParts, by: string): (lane: Lane) => Promise<void> {
  const { secretsKey, previousSecretsKey, sender, db, log, metrics, chance = Math.random } = parts;
  const box = createSecretBox(secretsKey, previousSecretsKey);
  const admin = createWebhookAdministration(db, 'worker');
  const large = createSlots({ slots: mostLarge });

  return async (lane) => {
    if (lane.maxBytes <= usualBytes) return deliver(lane);
    const leave = large.tryTake(lane.organizationId);
    if (!leave) return void (await db.write((sql) => postpone(sql, lane, by, largeAgain)));
    return deliver(lane).finally(leave);
  };

  async function deliver(claimed: Lane): Promise<void> {
    const claimedAgo = stopwatch();
    const secrets = claimed.isCapped ? undefined : secretsOf(claimed);
    if (!secrets) return void (await db.write((sql) => postpone(sql, claimed, by, longestPostponed)));
    const message = await db.read((sql) => readMessage(sql, claimed));
    if (!message) return db.write((sql) => advance(sql, claimed, by));
    const lane = { ...claimed, through: message.through };
    if (lane.through !== claimed.through) await db.write((sql) => endBefore(sql, lane, by));
    const { failure, retryAfter, ...attempt } = await attemptToSend(lane, message, secrets, claimedAgo());
    metrics.webhookTries.inc({ outcome: failure ?? 'delivered' });
    if (failure === null) return db.write((sql) => advance(sql, lane, by, attempt));
    if (attempt.status === 413 && message.count > 1) return halve(lane, attempt, failure, message.count);
    return retryOrDisable(lane, attempt, failure, retryAfter);
  }

  function secretsOf({ webhookId, secret, previousSecret, headers }: Lane): Secrets | undefined {
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
  }

  /**
   * `claimedAgo`: milliseconds since the lane was claimed. The time in the signature is `lane.claimedAt`, by Postgres'
   * clock, plus this.
   */
  async function attemptToSend(lane: Lane, message: Message, secrets: Secrets, claimedAgo: number) {
    const body = JSON.stringify({ type: lane.type, timestamp: message.at.toISOString(), data: message.data });
    const at = new Date(lane.claimedAt.getTime() + claimedAgo);
    const headers = { ...secrets.headers, ...sign(lane.messageId, at, body, secrets.signing) };
    const taken = stopwatch();
    const sent = await send(sender, lane.url, headers, body);
    return { ...sent, milliseconds: Math.round(taken()) };
  }

  /** The receiver refuses messages of this size. */
  async function halve(lane: Lane, attempt: Attempt, failure: Failure, entries: number): Promise<void> {
    const atMost = Math.floor(entries / 2);
    await db.write((sql) => fail(sql, lane, by, { attempt, failure, wait: 0, atMost }));
  }

  async function retryOrDisable(lane: Lane, attempt: Attempt, failure: Failure, retryAfter: number): Promise<void> {
    const { webhook: number, webhookId, organizationId } = lane;
    const isTest = lane.type === 'webhook.test';
    const isGone = failure === 'gone';
    const wait = isTest || isGone ? null : nextWait(lane.tries + 1, retryAfter, chance());
    await db.write((sql) => fail(sql, lane, by, { attempt, failure, wait }));
    if (isTest || wait !== null) return;
    const reason = isGone ? 'gone' : 'every try failed';
    if (await admin.disable({ number, webhookId, organizationId }, reason))
      log.warn({ event: 'webhook_disabled', webhookId, reason }, 'a webhook was disabled');
  }
}

const stopwatch = (): (() => number) => {
  const begun = performance.now();
  return () => performance.now() - begun;
};
