/** Raise and drop: the only two operations that change counters in Redis. */

import { groupBy } from '#libs/base/group-by';
import type { RedisClient } from '#libs/base/redis/connection';
import type { Counter, PackedCounters } from '#libs/base/terms/terms';
import { counterKey, fillKey, hashKey, keysKey, pack, readyKey } from './redis/keys.ts';
import { scripted } from './redis/scripts.ts';

/** Hashes in one script: Redis does nothing else meanwhile. */
const atOnce = 200;
const dropAtOnce = 1_000;

/** Raises each counter to at least the given counts: one script per organization, all sent at once. */
export async function raise(client: RedisClient, counters: Counter[]): Promise<void> {
  const byOrganization = groupBy(counters, (counter) => counter.organizationId);
  await Promise.all(
    Array.from(byOrganization, ([organizationId, group]) => {
      const hashes = new Map<string, string>();
      for (const counter of group) {
        const key = counterKey(organizationId, counter.domainId, counter.period);
        const before = hashes.get(key);
        hashes.set(key, before === undefined ? pack(counter) : `${before};${pack(counter)}`);
      }
      return raiseHashes(client, organizationId, [...hashes]);
    }),
  );
}

/** The same for counters of one organization that Postgres has packed. */
export const raisePacked = (client: RedisClient, organizationId: string, packed: PackedCounters[]): Promise<void> =>
  raiseHashes(
    client,
    organizationId,
    packed.map(({ domainId, month, counters }) => [hashKey(organizationId, domainId, month), counters]),
  );

async function raiseHashes(client: RedisClient, organizationId: string, hashes: [key: string, counters: string][]) {
  const redis = scripted(client);
  const scripts: Promise<unknown>[] = [];
  for (let at = 0; at < hashes.length; at += atOnce) {
    const some = hashes.slice(at, at + atOnce);
    const keys = [keysKey(organizationId), ...some.map(([key]) => key)];
    scripts.push(redis.assentRaise(keys.length, ...keys, ...some.map(([, counters]) => counters)));
  }
  await Promise.all(scripts);
}

/** Deletes all counters of an organization from Redis; reads come from Postgres until a fill restores them. */
export async function drop(client: RedisClient, organizationId: string): Promise<void> {
  const keys = [readyKey(organizationId), fillKey(organizationId), keysKey(organizationId)];
  while ((await scripted(client).assentDrop(keys.length, ...keys, dropAtOnce)) === dropAtOnce);
}
