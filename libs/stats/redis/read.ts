/** Reads counters: the mark and the counts atomically, so that incomplete counts are never returned. */

import type { RedisConnection } from '#libs/base/redis/connection';
import type { Span } from '#libs/base/terms/calendar';
import type { Breakdown } from '#libs/base/terms/terms';
import { type Fields, fieldsOf, readyKey, type Scripts, scripted, unpack } from '../redis-counters.ts';

export interface CounterQuestion {
  organizationId: string;
  /** '' for the whole organization */
  domainId: string;
  spans: Span[];
}

/**
 * The counts of each period; one without decisions may be absent.
 * Null if this Redis does not have all counters of the organization, or is not connected. Rejects if it does not respond.
 */
export async function readCounters(
  redis: RedisConnection,
  wanted: CounterQuestion,
): Promise<Map<string, Breakdown> | null> {
  const hashes = fieldsOf(wanted.organizationId, wanted.domainId, wanted.spans);
  const found = await run('assentRead', redis, wanted, hashes);
  if (!Array.isArray(found)) return null;
  const counts = new Map<string, Breakdown>();
  for (const [at, { periodPrefix: before }] of hashes.entries()) {
    const pairs: string[] = found[at] ?? [];
    for (let i = 0; i < pairs.length; i += 2) counts.set(before + pairs[i], unpack(pairs[i + 1] ?? ''));
  }
  return counts;
}

/** The sum of what `readCounters` returns, computed in Redis. */
export async function sumCounters(redis: RedisConnection, wanted: CounterQuestion): Promise<Breakdown | null> {
  const hashes = fieldsOf(wanted.organizationId, wanted.domainId, wanted.spans);
  const found = await run('assentSum', redis, wanted, hashes);
  return typeof found === 'string' ? unpack(found) : null;
}

async function run(
  script: keyof Scripts,
  redis: RedisConnection,
  { organizationId }: CounterQuestion,
  hashes: Fields[],
): Promise<unknown> {
  const mark = readyKey(organizationId);
  const runId = redis.runIdOf(mark);
  if (runId === undefined) return null;
  const given = [mark];
  for (const { key } of hashes) given.push(key);
  given.push(runId);
  for (const { first, last } of hashes) given.push(first, last);
  return scripted(redis.client)[script](hashes.length + 1, ...given);
}
