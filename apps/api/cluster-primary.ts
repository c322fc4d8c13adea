/**
 * With WEB_CONCURRENCY above 1, the primary process forks the API, replaces processes that die, and serves the operations
 * port.
 */
import cluster from 'node:cluster';
import { BadSetting } from '#libs/base/config/read';
import { createDatabase } from '#libs/base/db/database';
import { compareKeys, failingOf } from '#libs/base/db/key-fingerprints';
import { inOrder, type Running } from '#libs/base/lifecycle';
import { createOpsServer } from '#libs/base/ops/port';
import { listenForOperators } from '#libs/base/ops/port-address';
import type { ProcessLog } from '#libs/base/ops/process-log';
import type { Fault } from '#libs/base/ops/readiness';
import { connectRedis } from '#libs/base/redis/connection';
import { watchRedis } from '#libs/base/redis/health';
import { openPlaceOf } from '#libs/place/place-of';
import { observeQueues } from '#libs/record/queue-summary';
import type { ApiConfig } from '../settings/api.ts';
import { gatherMetrics } from './cluster-metrics.ts';
import { queuePages } from './queue-pages.ts';
import { apiReadiness } from './readiness.ts';
import { openReplica } from './replica.ts';

/** Milliseconds before a dead process is replaced. */
const restartAfter = 1_000;
/** Milliseconds for this process's few queries: is Postgres there, and are the keys the right ones. */
const timeouts = { statementTimeout: 1_000, deadline: 1_300 };
const silent = { info: () => {}, warn: () => {} };

interface PrimaryOptions {
  log: ProcessLog;
  /** Called when a process ends before any has listened, for example because the port is taken. It has logged why. */
  onUnable: () => void;
}

/** Rejects with a BadSetting if a port or file cannot be opened, or if a key is not the one this database is used with. */
export async function openClusterPrimary(config: ApiConfig, { log, onUnable }: PrimaryOptions): Promise<Running> {
  // each process reads GEOIP_FILE; an invalid file is found here, once
  await openPlaceOf(config.place);
  const redis = connectRedis(config.redis, 'producer', log);
  // the API processes log the warnings
  const redisHealth = watchRedis(redis.client, () => {});
  const queues = observeQueues(redis, config.queueShards);
  // to report the state of Postgres, and to compare the keys
  const db = createDatabase({
    url: config.databaseUrl,
    ...config.databaseMode,
    name: 'assent-api-primary',
    max: 1,
    ...timeouts,
  });
  const keys = compareKeys(db, config.keys);
  // only to report the state of the replica; the API processes read from it and log its state
  const replica = openReplica(config, { primary: db, connections: 1, log: silent, onLook: () => {} });
  const listening = new Set<number>();
  const metrics = gatherMetrics(listening, (pid) => log.warn({ worker: pid }, 'an API process does not respond'));
  let hasListened = false;
  let incompleteSince = Date.now();
  let stopping = false;

  cluster.on('listening', (worker) => {
    hasListened = true;
    listening.add(worker.id);
    if (listening.size === config.webConcurrency)
      log.info({ processes: listening.size }, 'all processes are listening');
  });
  cluster.on('exit', (worker, code, signal) => {
    if (listening.size === config.webConcurrency) incompleteSince = Date.now();
    listening.delete(worker.id);
    if (stopping) return;
    if (!hasListened) return onUnable();
    log.error({ worker: worker.process.pid, code, signal }, 'an API process died and is being replaced');
    setTimeout(() => !stopping && cluster.fork(), restartAfter);
  });

  const missing = (): Fault[] =>
    listening.size === config.webConcurrency
      ? []
      : [
          {
            part: 'processes',
            reason: `${listening.size} of ${config.webConcurrency} listen`,
            since: incompleteSince,
            costs:
              listening.size === 0
                ? 'No request is answered. The log says why processes end.'
                : 'The others take all requests, so each waits longer.',
          },
        ];
  const stopWorkers = async () => {
    stopping = true;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    await Promise.all(
      workers.map(
        (worker) =>
          new Promise((resolve) => {
            worker.once('exit', resolve);
            worker.process.kill('SIGTERM');
          }),
      ),
    );
  };

  const ops = createOpsServer({
    name: 'API',
    readiness: async () => {
      const state = await apiReadiness({ pools: [db], redisHealth, replica });
      const processes = listening.size;
      const degraded = [...state.degraded, ...missing()];
      return {
        ...state,
        ready: state.ready && !stopping && processes > 0,
        parts: { processes, ...state.parts },
        degraded,
      };
    },
    shards: queues.summarize,
    metrics,
    queues: queuePages(queues.queues),
  });
  // every pool is shown the error, since it does not say whose connection it was
  const recover = (error: unknown) => [db, replica].map((each) => each?.recover(error)).includes(true);
  const stop = inOrder(
    [
      { name: 'keys', stop: () => keys.close() },
      { name: 'processes', stop: stopWorkers },
      { name: 'queue', stop: () => queues.close() },
      { name: 'redis health', stop: () => redisHealth.close() },
      { name: 'redis', stop: () => redis.close() },
      { name: 'postgres', stop: () => Promise.all([db.close(), replica?.close()]) },
      { name: 'operations port', stop: () => ops.close() },
    ],
    log,
  );
  try {
    await keys.tried;
    const opsPort = await listenForOperators(ops, config.opsHost, config.opsPort);
    log.info({ processes: config.webConcurrency, opsPort }, 'forking');
  } catch (error) {
    await stop();
    throw new BadSetting(error instanceof Error ? error.message : String(error));
  }
  void replica?.follow();
  for (let count = 0; count < config.webConcurrency; count += 1) cluster.fork();
  return { stop, recover, failing: failingOf(keys) };
}
