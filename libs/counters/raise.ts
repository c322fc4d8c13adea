/** Raise and drop: the only two operations that change counters in Redis. */
import type { Counter } from '#libs/contract/terms';
import { groupBy } from '#libs/runtime/group-by';
import type { RedisClient } from '#libs/runtime/redis';
import { counterField, counterKey, fillKey, keysKey, readyKey } from './keys.ts';
import { scripted } from './scripts.ts';

/** Raises each counter to at least the given counts: one script per organization, all sent at once. */
export async function raise(client: RedisClient, counters: Counter[]): Promise<void> {
  const redis = scripted(client);
  const byOrganization = groupBy(counters, (counter) => counter.organizationId);
  await Promise.all(
    Array.from(byOrganization, ([organizationId, group]) => {
      const keys = [keysKey(organizationId)];
      const positions = new Map<string, number>();
      const values: (string | number)[] = [];
      for (const { domainId, period, accept_all, reject_all, custom, withdraw } of group) {
        const key = counterKey(organizationId, domainId, period);
        let position = positions.get(key);
        if (position === undefined) {
          position = keys.push(key);
          positions.set(key, position);
        }
        values.push(position, counterField(period), accept_all, reject_all, custom, withdraw);
      }
      return redis.assentRaise(keys.length, ...keys, ...values);
    }),
  );
}

/** Deletes all counters of an organization from Redis, atomically. A fill restores them. */
export async function drop(client: RedisClient, organizationId: string): Promise<void> {
  await scripted(client).assentDrop(3, readyKey(organizationId), fillKey(organizationId), keysKey(organizationId));
}
