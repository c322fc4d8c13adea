/** The worker process: config → connect → consume and maintain → shutdown. */
import { readOrExit } from '#libs/config/read';
import { readWorkerConfig } from '#libs/config/worker';
import { createLifecycle } from '#libs/runtime/lifecycle';
import { connectRedis } from '#libs/runtime/redis';
import { createDatabase } from '#libs/store/sql';
import { createLog } from '#libs/telemetry/log';
import { createMetrics } from '#libs/telemetry/metrics';
import { createOpsServer, listen } from '#libs/telemetry/ops';
import { createConsumer } from './consume.ts';
import { createHealing } from './heal/healing.ts';
import { createHousekeeping } from './keep/housekeeping.ts';
import { observeQueues } from './observe-queues.ts';

const config = readOrExit(readWorkerConfig);
const log = createLog('worker', config.logLevel);
const metrics = createMetrics();
const db = createDatabase({
  url: config.databaseUrl,
  max: 6,
  statementTimeout: 8_000,
  deadline: 10_000,
  prepare: config.databasePrepare,
  name: 'assent-worker',
});
const redis = connectRedis(config.redis, 'worker', log);
// raising counters must not wait while Redis is down
const countersRedis = connectRedis(config.redis, 'producer', log);

const consumer = createConsumer({ config, redis, countersRedis, db, log, metrics });
const healing = createHealing({ countersRedis, db, log, metrics });
const housekeeping = createHousekeeping({ retentionMonths: config.retentionMonths, redis, db, log });
const queues = observeQueues({ redis, shards: config.queueShards, metrics });

const ops = createOpsServer({
  readiness: async () => {
    const [postgres, redisAnswers] = await Promise.all([
      answers(db.run((sql) => sql`select from record_months limit 1`, 1_000)),
      answers(countersRedis.client.ping()),
    ]);
    return { ready: postgres && redisAnswers, postgres, redis: redisAnswers };
  },
  metrics: async () => {
    await queues.observe();
    return { type: metrics.register.contentType, text: await metrics.register.metrics() };
  },
});

const answers = (question: Promise<unknown>): Promise<boolean> =>
  question.then(
    () => true,
    () => false,
  );

createLifecycle({ deadline: 30_000, log, recover: db.recover }).onStop([
  { name: 'healing', stop: () => healing.close() },
  { name: 'housekeeping', stop: () => housekeeping.close() },
  { name: 'consumer', stop: () => consumer.close() },
  { name: 'queues', stop: () => queues.close() },
  { name: 'redis', stop: () => Promise.all([redis.close(), countersRedis.close()]) },
  { name: 'postgres', stop: () => db.close() },
  { name: 'operations port', stop: () => ops.close() },
]);

try {
  const opsPort = await listen(ops, config.opsHost, config.opsPort, 'OPS_PORT');
  log.info({ event: 'working', opsPort, concurrency: config.concurrency, shards: config.queueShards }, 'working');
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
