/** Which Postgres the counters in Redis are a copy of: another one may have fewer, in every period. */
import type { RedisClient } from '#libs/base/redis/connection';

const key = 'assent:counters:server';

/** Null where none was noted, or Redis was emptied. */
export const notedServer = (client: RedisClient): Promise<string | null> => client.get(key);

/** `server`: the one that all counters were compared with. */
export const noteServer = (client: RedisClient, server: string): Promise<unknown> => client.set(key, server);
