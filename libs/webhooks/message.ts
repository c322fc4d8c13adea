/** A lane's next message, and its signatures according to Standard Webhooks 1.0. */

import { createHmac } from 'node:crypto';
import type { Sql } from '#libs/base/db/database';
import type { FeedEntry } from '#libs/log/contract';
import { readErased, readFeed } from '#libs/log/feed-entries';
import { findSealedAt } from '#libs/proof/runs';
import type { Lane } from './claim.ts';

export interface Message {
  data: object;
  /** the time of the event: the same in every attempt and in a replay */
  at: Date;
  /**
   * where the next message starts: past this message's entries and those that were filtered out; at most the lane's
   * `through`; null for a single message
   */
  through: number | null;
  /** number of entries or positions */
  count: number;
}

/** bytes around the entries of a message */
const envelope = 512;

/** Returns undefined if none of the next entries pass the lane's type and filter. */
export async function readMessage(sql: Sql, lane: Lane): Promise<Message | undefined> {
  const { type, domainId, domainNumber, log, position, through, data, madeAt } = lane;
  if (domainNumber === null) return { data: data ?? {}, at: madeAt, through, count: 1 };
  if (log === null || position === null || through === null) throw new Error(`lane ${lane.number} has no place`);
  const range = { from: position, below: through };
  if (type === 'visitor.erased') {
    const erased = await readErased(sql, { domainNumber, log }, range);
    const [first] = erased;
    if (!first) return undefined;
    // the erased records may be in earlier logs, but a message lists positions of only one log
    const other = erased.find((each) => each.log !== first.log);
    const ofLog = other ? erased.slice(0, erased.indexOf(other)) : erased;
    const own = ofLog.slice(
      0,
      countFitting(
        lane,
        ofLog.map(({ position: each }) => String(each).length + 1),
      ),
    );
    const positions = own.map((each) => each.position).toSorted((one, another) => one - another);
    const next = erased[own.length];
    const times = own.map(({ erasedAt }) => erasedAt?.getTime() ?? 0);
    return {
      data: { domainId, log: first.log, positions },
      at: new Date(Math.max(...times)),
      through: next?.entry ?? through,
      count: own.length,
    };
  }
  const wanted = (await readFeed(sql, { domainNumber, log }, range)).filter(isWanted(lane));
  if (wanted.length === 0) return undefined;
  const shown = wanted.map(withoutDevice);
  const entries = shown.slice(
    0,
    countFitting(
      lane,
      shown.map((entry) => Buffer.byteLength(JSON.stringify(entry)) + 1),
    ),
  );
  const size = wanted[entries.length]?.position ?? through;
  const at = await findSealedAt(sql, { domainNumber, log }, size - 1);
  return { data: { domainId, log, first: position, size, entries }, at, through: size, count: entries.length };
}

/** How many entries of these sizes fit into a message: at least one. */
function countFitting({ maxBytes, atMost }: Lane, sizes: number[]): number {
  let bytes = envelope;
  const beyond = sizes.findIndex((size) => {
    bytes += size;
    return bytes > maxBytes;
  });
  const fitting = beyond === -1 ? sizes.length : Math.max(1, beyond);
  return Math.min(fitting, atMost ?? fitting);
}

/**
 * With a filter on decisions, a message contains the matching records and all erasures, because a receiver that stores
 * records must hear of their erasure. Notices and expired records are left out.
 */
const isWanted =
  ({ decisions }: Lane) =>
  (entry: FeedEntry): boolean =>
    decisions === null ||
    (entry.type === 'record' ? decisions.includes(entry.record.decision) : entry.type === 'erasure');

function withoutDevice(entry: FeedEntry): object {
  if (entry.type !== 'record') return entry;
  const { ip, userAgent, ...record } = entry.record;
  return { ...entry, record };
}

interface Signed {
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
}

/** One signature for each secret. `at`: the time of sending, by which receivers detect replayed requests. */
export function sign(messageId: string, at: Date, body: string, secrets: Buffer[]): Signed {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const mac = createHmac('sha256', secret).update(`${messageId}.${timestamp}.${body}`).digest('base64');
    return `v1,${mac}`;
  });
  return {
    'webhook-id': messageId,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
