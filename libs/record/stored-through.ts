/**
 * The time before which every acknowledged record is stored, by the clocks of the API. A record is acknowledged after its
 * job was added, and jobs are numbered as they are added. So what was acknowledged before the oldest open job was added is
 * stored.
 */
import { readFileSync } from 'node:fs';
import type { RedisConnection } from '#libs/base/redis/connection';
import { every, within } from '#libs/base/timers';
import { knownShards, queuePrefix, recordQueue, shardOf } from './queue.ts';

/** milliseconds */
const pace = 1_000;
const patience = 1_000;
/** With more jobs the time stands still, because reading them would block Redis for milliseconds. */
const mostJobs = 10_000;

const oldestJob = readFileSync(new URL('./oldest-job.lua', import.meta.url), 'utf8');

export interface StoredThrough {
  /** Unix milliseconds; null while Redis is unavailable. */
  of(organizationId: string): number | null;
  /** Looks at once, and then once a second. */
  follow(): Promise<void>;
  close(): Promise<void>;
}

export function createStoredThrough({ client }: RedisConnection, shards: number, failed: () => void): StoredThrough {
  /** by shard */
  let seen = new Map<number, number>();
  const look = async () => {
    const began = Date.now();
    const known = await knownShards(client, shards);
    const times = await Promise.all(
      known.map(async (shard): Promise<[number, number | undefined]> => {
        const addedAt = Number(await client.eval(oldestJob, 1, `${queuePrefix}:${recordQueue(shard)}:`, mostJobs));
        return [shard, addedAt < 0 ? seen.get(shard) : addedAt === 0 ? began : Math.min(addedAt, began)];
      }),
    );
    seen = new Map(times.flatMap(([shard, time]) => (time === undefined ? [] : [[shard, time]])));
  };
  const looks = every({
    name: 'stored_through',
    pace,
    task: () => within(patience, look()),
    failed: () => {
      seen = new Map();
      failed();
    },
  });
  return {
    of: (organizationId) => {
      const own = seen.get(shardOf(organizationId, shards));
      // while QUEUE_SHARDS is being changed, other processes use these
      const others = [...seen].flatMap(([shard, time]) => (shard < shards ? [] : [time]));
      return own === undefined ? null : Math.min(own, ...others);
    },
    follow: looks.now,
    close: looks.stop,
  };
}
