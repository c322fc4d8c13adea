/** Redis' append-only file keeps what was deleted until it is rewritten. */
import { Cluster } from 'ioredis';
import type { RedisClient } from '#libs/runtime/redis';

/** Seconds between two rewrites, whoever asks. */
const atMostEvery = 60;
const daily = 24 * 60 * 60;

/**
 * Has the file rewritten, unless that was done a minute ago; without `isWanted` only once a day. True where the rewrite
 * began, or is not needed.
 */
export async function rewriteFile(redis: RedisClient, isWanted: boolean): Promise<boolean> {
  if (!isWanted && (await redis.exists('assent:rewritten-today')) === 1) return true;
  if ((await redis.set('assent:rewritten', '1', 'EX', atMostEvery, 'NX')) === null) return !isWanted;
  // replicas have files of their own
  const nodes = redis instanceof Cluster ? redis.nodes() : [redis];
  for (const node of nodes) await node.bgrewriteaof();
  await redis.set('assent:rewritten-today', '1', 'EX', daily);
  return true;
}
