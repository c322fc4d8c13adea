/** If the clock of Redis was ahead when a key was set, and was corrected since, the key would stay for that much longer. */
import type { RedisClient } from './connection.ts';

/** Deletes the key if it has more than `longest` milliseconds left to live. */
export async function capExpiry(client: RedisClient, key: string, longest: number): Promise<void> {
  if ((await client.pttl(key)) > longest) await client.del(key);
}
