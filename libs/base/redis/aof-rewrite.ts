/**
 * Redis' append-only file contains deleted values until it is rewritten. The request for a rewrite is stored in Redis, so
 * that it survives if the worker that asked for it, or Redis itself during a rewrite, is killed.
 */
import { Cluster, type Redis } from 'ioredis';
import type { RedisClient } from './connection.ts';
import { capExpiry } from './key-expiry.ts';

/**
 * `wanted`: number of requests. `begun`: how many there were when the last rewrite began, and on which servers. `done`: how
 * many there were when the last completed rewrite began.
 */
const key = 'assent:rewrite';
/** Minimum milliseconds between two rewrites. */
const atMostEvery = 60_000;
const daily = 86_400_000;
const rewritten = { lately: 'assent:rewritten', today: 'assent:rewritten-today' };

/** Call it before storing that the deletion is done. */
export const requestRewrite = (client: RedisClient): Promise<number> => client.hincrby(key, 'wanted', 1);

/** Rewrites the file on request, at most once a minute, and once a day in any case. Call it periodically. */
export async function rewriteFile(client: RedisClient): Promise<void> {
  await capExpiry(client, rewritten.lately, atMostEvery);
  await capExpiry(client, rewritten.today, daily);
  const { wanted = '0', begun = '', done = '0' } = await client.hgetall(key);
  const isWanted = Number(wanted) > Number(done);
  if (!isWanted && (await client.exists(rewritten.today)) === 1) return;
  // each replica has a file of its own
  const nodes = client instanceof Cluster ? client.nodes() : [client];
  const states = await Promise.all(nodes.map(readState));
  if (states.some(({ isRewriting }) => isRewriting)) return;
  // each process lists the nodes in a different order
  const servers = states
    .map(({ runId }) => runId)
    .toSorted()
    .join(' ');
  if (isWanted && begun === `${wanted} ${servers}` && states.every(({ succeeded }) => succeeded)) {
    await client.hset(key, 'done', wanted);
    return;
  }
  if ((await client.set(rewritten.lately, '1', 'PX', atMostEvery, 'NX')) === null) return;
  for (const node of nodes) await node.bgrewriteaof();
  await client.hset(key, 'begun', `${wanted} ${servers}`);
  await client.set(rewritten.today, '1', 'PX', daily);
}

async function readState(node: Redis): Promise<{ runId: string; isRewriting: boolean; succeeded: boolean }> {
  const text = (await node.info('server')) + (await node.info('persistence'));
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(text)?.[1] ?? '';
  return {
    runId: field('run_id'),
    isRewriting: field('aof_rewrite_in_progress') === '1' || field('aof_rewrite_scheduled') === '1',
    succeeded: field('aof_last_bgrewrite_status') === 'ok',
  };
}
