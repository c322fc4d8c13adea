/**
 * Keys that end after a while, by the clock of Redis. Where that was ahead when one was set, it would stay for as long as the
 * clock was ahead.
 */
import type { RedisClient } from './connection.ts';

/** Deletes the key where it has longer to go than it ever may have. `longest`: milliseconds. */
export async function capExpiry(client: RedisClient, key: string, longest: number): Promise<void> {
  if ((await client.pttl(key)) > longest) await client.del(key);
}
