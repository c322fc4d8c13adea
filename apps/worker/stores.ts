/** The stores of a worker: a pool of connections to Postgres for each kind of work, and two connections to Redis. */
import { createClock } from '#libs/base/db/clock';
import { createDatabase } from '#libs/base/db/database';
import { compareKeys } from '#libs/base/db/key-fingerprints';
import { reportTablesElsewhere } from '#libs/base/db/search-path';
import type { ProcessLog } from '#libs/base/ops/process-log';
import { connectRedis } from '#libs/base/redis/connection';
import type { observeQueues } from '#libs/record/queue-summary';
import { type observe, observeRedis } from '../process/observe.ts';
import type { WorkerConfig } from '../settings/worker.ts';
import { statementsAtOnce } from './store-jobs.ts';

const timeouts = { statementTimeout: 8_000, deadline: 10_000 };
export const connections = { main: 6, recording: statementsAtOnce, delivery: 3 };

export type Observed = Awaited<ReturnType<typeof observe>>;
export type Stores = ReturnType<typeof openStores>;
export type Queues = ReturnType<typeof observeQueues>;

export function openStores(config: WorkerConfig, { metrics }: Observed, log: ProcessLog) {
  const database = { ...timeouts, ...config.databaseMode, url: config.databaseUrl, name: 'assent-worker' };
  const db = createDatabase({ ...database, max: connections.main });
  // other work may take minutes, and must not delay recording
  const recordingDb = createDatabase({ ...database, max: connections.recording });
  // many messages at once must not delay what is derived
  const deliveryDb = createDatabase({ ...database, max: connections.delivery });
  const clock = createClock(db, log);
  void reportTablesElsewhere(db, log);
  void clock.follow();
  const queueRedis = connectRedis(config.redis, 'worker', log);
  // raising counters must not wait while Redis is down
  const redis = connectRedis(config.redis, 'producer', log);
  const words = { usable: 'Redis takes jobs', unusable: 'Redis takes no jobs' };
  return {
    db,
    recordingDb,
    deliveryDb,
    pools: [db, recordingDb, deliveryDb] as const,
    clock,
    keys: compareKeys(db, config.keys),
    queueRedis,
    redis,
    redisHealth: observeRedis(redis.client, { metrics, log }, words, 'worker'),
  };
}
