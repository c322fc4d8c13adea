/** Which Postgres the counters in Redis are a copy of: another one may have fewer, in every period. */
import type { RedisClient } from '#libs/base/redis/connection';

const key = 'assent:counters:server';

/** Null where none was noted, or Redis was emptied. */
export const notedServer = (redis: RedisClient): Promise<string | null> => redis.get(key);

/** `server`: the one that all counters were compared with. */
export const noteServer = (redis: RedisClient, server: string): Promise<unknown> => redis.set(key, server);
