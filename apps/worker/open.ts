/** One worker: connects, consumes and maintains, and stops in order. It knows neither signals nor exit codes. */
import { BadSetting } from '#libs/base/config/read';
import { createClock } from '#libs/base/db/clock';
import { createDatabase } from '#libs/base/db/database';
import { compareKeys, failingOf } from '#libs/base/db/key-fingerprints';
import { reportTablesElsewhere } from '#libs/base/db/search-path';
import { createTaskLeases } from '#libs/base/db/task-leases';
import { inOrder, type Running } from '#libs/base/lifecycle';
import { askPostgres, createAskedGauges, type Question } from '#libs/base/ops/asked-gauges';
import { createOpsServer } from '#libs/base/ops/port';
import { listenForOperators } from '#libs/base/ops/port-address';
import type { ProcessLog } from '#libs/base/ops/process-log';
import { isPostgresUsable } from '#libs/base/ops/readiness';
import { createStoreGauges, housekeepingBacklog } from '#libs/base/ops/store-gauges';
import { connectRedis } from '#libs/base/redis/connection';
import { createScheduler, type Scheduler } from '#libs/base/scheduler';
import { version } from '#libs/base/version';
import { retentionBacklog } from '#libs/privacy/metrics';
import { queueGauges, recordBacklog } from '#libs/record/metrics';
import { promoteStray } from '#libs/record/promote-stray-jobs';
import { observeQueues } from '#libs/record/queue-summary';
import { scheduleCounterRepair } from '#libs/stats/counter-repair';
import { statsBacklog } from '#libs/stats/metrics';
import { createResolve } from '#libs/webhooks/addresses';
import { scheduleDelivering } from '#libs/webhooks/delivering';
import { webhookBacklog } from '#libs/webhooks/metrics';
import { observe, observeRedis, warnOfMissingKeys } from '../process/observe.ts';
import type { WorkerConfig } from '../settings/worker.ts';
import { createConsumer } from './consume.ts';
import { derivationsOf, scheduleDeriving } from './deriving.ts';
import { removeOldSchedules } from './old-schedules.ts';
import { workerReadiness } from './readiness.ts';
import { statements } from './store-jobs.ts';
import { scheduleHousekeeping } from './tasks.ts';

const timeouts = { statementTimeout: 8_000, deadline: 10_000 };
const connections = { main: 6, recording: statements, delivery: 3 };
/** milliseconds within which a receiver has to answer */
const receiverPatience = 15_000;
/** seconds for which the oldest record has waited in a queue that the workers keep up with */
const longestQueued = 60;

interface WorkerOptions {
  /**
   * Milliseconds that a second lasts between two rounds of background work; default 1,000. What is promised in seconds then
   * comes sooner.
   */
  second?: number;
  log: ProcessLog;
}

interface RunningWorker extends Running {
  opsPort: number;
}

/** Rejects with a BadSetting where the operations port cannot be opened, or a key is not in force. */
export async function openWorker(config: WorkerConfig, { second = 1_000, log }: WorkerOptions): Promise<RunningWorker> {
  const { metrics, failed, tracing, queueTracing } = await observe('assent-worker', config, log);
  const database = { ...timeouts, ...config.databaseMode, url: config.databaseUrl, name: 'assent-worker' };
  const db = createDatabase({ ...database, max: connections.main });
  // whatever else a worker does may take minutes, and must not be in the way of recording
  const recordingDb = createDatabase({ ...database, max: connections.recording });
  // nor many messages at once in the way of what is derived
  const deliveryDb = createDatabase({ ...database, max: connections.delivery });
  const pools = [db, recordingDb, deliveryDb] as const;
  const clock = createClock(db, log);
  void reportTablesElsewhere(db, log);
  void clock.follow();
  const keys = compareKeys(db, config.keys);
  const queueRedis = connectRedis(config.redis, 'worker', log);
  // raising counters must not wait while Redis is down
  const redis = connectRedis(config.redis, 'producer', log);
  const redisHealth = observeRedis(
    redis.client,
    { metrics, log },
    { usable: 'Redis takes jobs', unusable: 'Redis takes no jobs' },
    'worker',
  );

  const consumer = createConsumer({
    config,
    queueRedis,
    redis,
    db: recordingDb,
    log,
    metrics,
    tracing,
    queueTracing,
    second,
  });
  const countLook = failed('look_for_turns');
  const scheduler = createScheduler({
    // the statements of this pool are short, so leases are renewed in time
    leases: createTaskLeases(deliveryDb),
    pace: second,
    failed: (error, isNews) => {
      countLook();
      if (isNews) log.warn({ err: error }, 'Postgres does not say which background tasks are due');
    },
  });
  /** Failures are counted, whatever else is done about them. */
  const every: Scheduler['every'] = (task) => {
    const count = failed(task.name);
    return scheduler.every({
      ...task,
      failed: (error, isNews) => {
        count();
        task.failed(error, isNews);
      },
    });
  };
  scheduleCounterRepair({ every }, { redis, db, second, log, metrics });
  const deriving = begunAfter(keys.compared, () => {
    scheduleDeriving({ every }, { config, redis, db, clock, second, log, metrics });
    return { close: async () => {} };
  });
  const { secretsKey } = config;
  const delivering = secretsKey
    ? begunAfter(keys.compared, () =>
        scheduleDelivering(
          { every },
          {
            secretsKey,
            previousSecretsKey: config.previousSecretsKey,
            sender: {
              resolve: createResolve(),
              reach: config.webhookReach,
              patience: receiverPatience,
            },
            db: deliveryDb,
            mayRecordsWait: () =>
              queues.summarize().then(
                (shards) => shards.some(({ oldest }) => oldest > longestQueued),
                () => true,
              ),
            second,
            log,
            metrics,
          },
        ),
      )
    : undefined;
  const derivations = derivationsOf(config).map(({ name }) => name);
  const { retentionMonths, personalRetentionMonths } = config;
  const housekeeping = scheduleHousekeeping(
    { every },
    { retentionMonths, personalRetentionMonths, derivations, db, clock, second, log },
  );
  every({
    name: 'promote_jobs',
    pace: 10 * second,
    one: true,
    task: () => promoteStray(redis, config.queueShards),
    failed: () => {},
  });
  every({
    name: 'remove_old_schedules',
    pace: 10 * second,
    one: true,
    task: () => removeOldSchedules(redis),
    failed: () => {},
  });
  const queues = observeQueues(queueRedis, config.queueShards);
  createAskedGauges(metrics.register, queueGauges, queues.summarize, failed('observe_queues'));
  const show = <Seen>(question: Question<Seen>) =>
    createAskedGauges(metrics.register, question.gauges, () => askPostgres(db, question), failed('observe_backlog'));
  show(recordBacklog(derivations));
  show(statsBacklog);
  show(webhookBacklog);
  show(retentionBacklog);
  show(housekeepingBacklog(housekeeping));
  createStoreGauges(metrics.register, {
    isPostgresUsable: () => isPostgresUsable(pools),
    redisMemory: redisHealth.memory,
    clockSkew: clock.skew,
    pools: {
      main: { running: db.running, connections: connections.main },
      recording: { running: recordingDb.running, connections: connections.recording },
      delivery: { running: deliveryDb.running, connections: connections.delivery },
    },
  });

  const ops = createOpsServer({
    name: 'worker',
    readiness: () => workerReadiness({ pools, client: redis.client, redisHealth }),
    shards: queues.summarize,
    metrics: async () => ({ type: metrics.register.contentType, text: await metrics.register.metrics() }),
  });

  // all, since the error does not say whose connection it was
  const recover = (error: unknown) => pools.map((each) => each.recover(error)).includes(true);
  const stop = inOrder(
    [
      { name: 'keys', stop: () => keys.close() },
      { name: 'deriving', stop: () => deriving.close() },
      { name: 'background tasks', stop: () => scheduler.close() },
      { name: 'delivering', stop: async () => delivering?.close() },
      { name: 'consumer', stop: () => consumer.close() },
      { name: 'queues', stop: () => queues.close() },
      { name: 'clock', stop: async () => clock.close() },
      { name: 'redis health', stop: () => redisHealth.close() },
      { name: 'redis', stop: () => Promise.all([queueRedis.close(), redis.close()]) },
      { name: 'postgres', stop: () => Promise.all(pools.map((each) => each.close())) },
      { name: 'tracing', stop: () => tracing?.close() },
      { name: 'operations port', stop: () => ops.close() },
    ],
    log,
  );

  try {
    await keys.tried;
    const opsPort = await listenForOperators(ops, config.opsHost, config.opsPort);
    if (!config.sealing)
      log.warn({ event: 'not_sealed' }, 'records are not sealed: LOG_KEY is not set, or SEAL_SECONDS is 0');
    warnOfMissingKeys(config, log);
    if (config.webhookReach.allowPrivate)
      log.warn({ event: 'webhooks_private' }, 'WEBHOOK_ALLOW_PRIVATE is set: webhooks may lead to this machine');
    const { concurrency, queueShards: shards } = config;
    log.info({ event: 'working', version, opsPort, concurrency, shards }, 'working');
    return { opsPort, stop, recover, failing: failingOf(keys) };
  } catch (error) {
    await stop();
    throw new BadSetting(error instanceof Error ? error.message : String(error));
  }
}

interface Begun {
  close(): Promise<void>;
}

/** Nothing may be signed or decrypted with a key before it was compared with the one in force. */
function begunAfter(compared: Promise<void>, begin: () => Begun): Begun {
  let isClosed = false;
  let begun: Begun | undefined;
  compared.then(
    () => {
      if (!isClosed) begun = begin();
    },
    () => {},
  );
  return {
    close: async () => {
      isClosed = true;
      await begun?.close();
    },
  };
}
