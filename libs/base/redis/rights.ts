/** Whether the Redis user has the rights for the ordinary work of a process. A ping would not show that. */
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import type { Role } from './connection.ts';

/** Prefix of all keys of the service. */
const prefix = 'assent:';
const script = readFileSync(new URL('./rights.lua', import.meta.url), 'utf8');

/**
 * The commands that each role runs, inside our and BullMQ's scripts and outside of scripts, as `INFO commandstats` shows
 * them.
 */
const producer = 'HGET HMGET HMSET HSET GET SET DEL INCR LPUSH PEXPIRE SADD XADD ZADD'.split(' ');
const worker = 'BZPOPMIN RPOPLPUSH LRANGE LREM HGETALL HINCRBY EXISTS SMEMBERS SREM ZRANGE ZPOPMIN'.split(' ');
const needed: Record<Role, string[]> = { producer, worker: [...producer, ...worker] };

/** Why the user lacks rights; null if it has them. Rejects with Redis' own error if it may not run scripts. */
export async function whyRightsLack(node: Redis, role: Role): Promise<string | null> {
  const command = await node.eval(script, 0, `${prefix}rights`, ...needed[role]);
  return command === null ? null : `its user may not run ${command} on keys that begin with ${prefix}`;
}

export const isMissingRight = (reason: string): boolean => /^(NOPERM|its user may not) /.test(reason);
