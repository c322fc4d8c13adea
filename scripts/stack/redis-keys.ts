/** What is in Redis, of whatever type. */
import type { RedisClient } from '#libs/base/redis/connection';

/** The keys whose name or value has the text. */
export async function keysWith(redis: RedisClient, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const key of await redis.keys('*')) {
    const value = JSON.stringify(await readWhole(redis, key));
    if (key.includes(text) || value.includes(text)) found.push(key);
  }
  return found;
}

async function readWhole(redis: RedisClient, key: string): Promise<unknown> {
  const readers: Record<string, () => unknown> = {
    string: () => redis.get(key),
    hash: () => redis.hgetall(key),
    list: () => redis.lrange(key, 0, -1),
    set: () => redis.smembers(key),
    zset: () => redis.zrange(key, '0', '-1'),
    stream: () => redis.xrange(key, '-', '+'),
    // it is gone by now
    none: () => null,
  };
  const type = await redis.type(key);
  const read = readers[type];
  if (!read) throw new Error(`${key} is of the unknown type ${type}`);
  return read();
}
