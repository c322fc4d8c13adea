/** What is in Redis, of whatever type. */
import type { RedisClient } from '#libs/runtime/redis';

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
  const type = await redis.type(key);
  switch (type) {
    case 'string':
      return redis.get(key);
    case 'hash':
      return redis.hgetall(key);
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, '0', '-1');
    case 'stream':
      return redis.xrange(key, '-', '+');
    // it is gone by now
    case 'none':
      return null;
    default:
      throw new Error(`${key} is of the unknown type ${type}`);
  }
}
