/** Whether the user of a connection may do what a process does in ordinary work: a ping needs no right to speak of. */
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import type { Role } from './connection.ts';

/** What all keys of the service begin with. */
const prefix = 'assent:';
const script = readFileSync(new URL('./rights.lua', import.meta.url), 'utf8');

/** As Redis counted them (`INFO commandstats`): by our scripts and BullMQ's, and of their own. */
const producer = 'HGET HMGET HMSET HSET GET SET DEL INCR LPUSH PEXPIRE SADD XADD ZADD'.split(' ');
const worker = 'BZPOPMIN RPOPLPUSH LRANGE LREM HGETALL HINCRBY EXISTS SMEMBERS SREM ZRANGE ZPOPMIN'.split(' ');
const needed: Record<Role, string[]> = { producer, worker: [...producer, ...worker] };

/** Why it cannot work; null where it can. Rejects with Redis' own error where it may run no script. */
export async function lackingRight(node: Redis, role: Role): Promise<string | null> {
  const command = await node.eval(script, 0, `${prefix}rights`, ...needed[role]);
  return command === null ? null : `its user may not run ${command} on keys that begin with ${prefix}`;
}

/** Whether that is the reason. */
export const isOfRights = (reason: string): boolean => /^(NOPERM|its user may not) /.test(reason);
