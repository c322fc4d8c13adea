/**
 * Fill: copies all counters of an organization from Postgres to Redis and then marks them as complete.
 * A fill may race raises (both only raise) and flushes (the mark is set only under the fill's own nonce).
 */
import { randomUUID } from 'node:crypto';
import type { Counter } from '#libs/contract/terms';
import type { RedisConnection } from '#libs/runtime/redis';
import { fillKey, readyKey } from './keys.ts';
import { raise } from './raise.ts';
import { scripted } from './scripts.ts';

/** Milliseconds after which a crashed fill no longer blocks others. Each chunk extends them. */
const fillLasts = 10_000;
const chunk = 1_000;

/** Reads up to `limit` counters after the given one, in a fixed order. */
export type ListCounters = (after: Counter | undefined, limit: number) => Promise<Counter[]>;

/** True if the organization is ready now; false if another fill is running, or a flush or drop came in between. */
export async function fill(
  connection: RedisConnection,
  organizationId: string,
  listCounters: ListCounters,
): Promise<boolean> {
  const runId = connection.runIdOf(readyKey(organizationId));
  if (runId === undefined) return false;
  const nonce = randomUUID();
  const began = await connection.client.set(fillKey(organizationId), nonce, 'PX', fillLasts, 'NX');
  if (began === null) return false;
  try {
    await raiseAll(connection, organizationId, listCounters);
  } catch (error) {
    // so that the next fill can start at once
    await connection.client.del(fillKey(organizationId)).catch(() => {});
    throw error;
  }
  const keys = [fillKey(organizationId), readyKey(organizationId)];
  return (await scripted(connection.client).assentReady(keys.length, ...keys, nonce, runId)) === 1;
}

async function raiseAll(
  connection: RedisConnection,
  organizationId: string,
  listCounters: ListCounters,
): Promise<void> {
  let last: Counter | undefined;
  do {
    const counters = await listCounters(last, chunk);
    await raise(connection.client, counters);
    await connection.client.pexpire(fillKey(organizationId), fillLasts);
    last = counters.length === chunk ? counters.at(-1) : undefined;
  } while (last);
}

export async function isReady(connection: RedisConnection, organizationId: string): Promise<boolean> {
  const mark = readyKey(organizationId);
  const value = await connection.client.get(mark);
  return value !== null && value === connection.runIdOf(mark);
}
