/**
 * Redis' append-only file keeps what was deleted until it is rewritten. Who wants that notes it in Redis, so that a rewrite
 * comes also where the worker that wanted it, or Redis in the middle of it, was killed.
 */
import { Cluster, type Redis } from 'ioredis';
import type { RedisClient } from './connection.ts';
import { capExpiry } from './key-expiry.ts';

/**
 * `wanted`: how often it was. `begun`: how often it had been when the last rewrite began, and under which servers.
 * `done`: how often it had been when the last one began that came to its end.
 */
const key = 'assent:rewrite';
/** Milliseconds between two rewrites, whoever asks. */
const atMostEvery = 60_000;
const daily = 86_400_000;
const rewritten = { lately: 'assent:rewritten', today: 'assent:rewritten-today' };

/** To be called before it is noted as done what left something in the file. */
export const wantRewrite = (client: RedisClient): Promise<number> => client.hincrby(key, 'wanted', 1);

/**
 * Has the file rewritten where it is wanted, at most once a minute, and once a day in any case. To be called again and
 * again.
 */
export async function rewriteFile(client: RedisClient): Promise<void> {
  await capExpiry(client, rewritten.lately, atMostEvery);
  await capExpiry(client, rewritten.today, daily);
  const { wanted = '0', begun = '', done = '0' } = await client.hgetall(key);
  const isWanted = Number(wanted) > Number(done);
  if (!isWanted && (await client.exists(rewritten.today)) === 1) return;
  // replicas have files of their own
  const nodes = client instanceof Cluster ? client.nodes() : [client];
  const states = await Promise.all(nodes.map(readState));
  if (states.some(({ isRewriting }) => isRewriting)) return;
  // each process knows the nodes in an order of its own
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
