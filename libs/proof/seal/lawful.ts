/** Which logs may grow. */
import type { RedisConnection } from '#libs/base/redis/connection';
import type { Head } from '../heads.ts';
import { isBehind, recall } from '../witness.ts';

/** Those that may grow: the guard has not halted them, and Redis knows of no more entries. */
export async function lawful(redis: RedisConnection, heads: Head[]): Promise<Head[]> {
  const witnessed = await recall(
    redis.client,
    heads.map(({ domainId }) => domainId),
  );
  return heads.filter((head, at) => !head.halted && !isBehind(head, witnessed[at]));
}

/** Those that may grow now: what waits from earlier epochs comes first. */
export const openAmong = async (redis: RedisConnection, heads: Head[]): Promise<Head[]> =>
  (await lawful(redis, heads)).filter(({ waitsFrom }) => waitsFrom === null);
