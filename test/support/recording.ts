/** The two ends of the way of a record, in this process: what the API records with, and what the worker stores with. */

import type { Database } from '#libs/base/db/database';
import type { RedisConnection } from '#libs/base/redis/connection';
import { type RedisHealth, watchRedis } from '#libs/base/redis/health';
import { createDirectStore } from '#libs/record/direct-store';
import { createProducer, createRecorder, type Producer, type Recorder } from '#libs/record/recorder';
import { readWorkerConfig } from '../../apps/settings/worker.ts';
import { createConsumer } from '../../apps/worker/consume.ts';
import { atEnd } from './at-end.ts';
import { quiet } from './counter-stores.ts';
import { openPool } from './pool.ts';
import { openRedis } from './stores.ts';
import { eventually } from './wait.ts';

/** As the API sets it up, with the API's deadlines. */
export async function openRecorder(
  urls: { redis: string; postgres: string },
  { shards = 1, ...more }: { shards?: number; lingersFor?: number } = {},
): Promise<{
  recorder: Recorder;
  producer: Producer;
  redisHealth: RedisHealth;
}> {
  const connection = await openRedis(urls.redis, 'producer');
  const db = openPool(urls.postgres, { max: 10, statementTimeout: 2_000, deadline: 2_300, name: 'recorder' });
  const redisHealth = watchRedis(connection.client, () => {});
  const producer = createProducer(connection, shards);
  const recorder = createRecorder({
    producer,
    redisHealth,
    persistDirectly: createDirectStore({ db, ...quiet(), statements: 4 }),
    shards,
    ...more,
    ...quiet(),
  });
  atEnd(async () => {
    await recorder.idle();
    redisHealth.close();
  });
  await Promise.all([redisHealth.usable(), producer.ready()]);
  return { recorder, producer, redisHealth };
}

export const untilRedisTakesRecords = (health: RedisHealth): Promise<void> =>
  eventually(() => {
    const reason = health.reason();
    if (reason !== null) throw new Error(`records go straight to Postgres: ${reason}`);
  });

/** Nothing is left to store. */
export const untilQuiet = (producer: Producer): Promise<void> =>
  eventually(async () => {
    for (const queue of producer.queues()) {
      const counts = Object.values(await queue.getJobCounts('waiting', 'active', 'delayed', 'failed'));
      if (counts.some((count) => count > 0)) throw new Error(`jobs are left: ${counts}`);
    }
  });

/** A worker's consumer of five jobs of a shard at once, which ends with the file if not before. `counters`: what it raises through. */
export async function openConsumer(
  urls: { redis: string; postgres: string },
  db: Database,
  counters?: RedisConnection,
  { shards = 1, ...more }: { shards?: number; mostHeld?: number; lingersFor?: number; second?: number } = {},
): Promise<{ close(): Promise<void> }> {
  const queueRedis = await openRedis(urls.redis);
  const config = readWorkerConfig({
    DATABASE_URL: urls.postgres,
    REDIS_URL: urls.redis,
    WORKER_CONCURRENCY: '5',
    QUEUE_SHARDS: String(shards),
  });
  const consumer = createConsumer({
    config,
    queueRedis,
    redis: counters ?? (await openRedis(urls.redis, 'producer')),
    db,
    ...quiet(),
    ...more,
  });
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= consumer.close();
    return closed;
  };
  atEnd(close);
  return { close };
}
