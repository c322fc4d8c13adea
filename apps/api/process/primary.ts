/** WEB_CONCURRENCY above 1: the primary process forks the API, replaces processes that die, and serves the operations port. */
import cluster from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';
import type { ApiConfig } from '#libs/config/api';
import { watchRedis } from '#libs/queue/health';
import { createProducer } from '#libs/queue/produce';
import { createLifecycle } from '#libs/runtime/lifecycle';
import { connectRedis } from '#libs/runtime/redis';
import type { Log } from '#libs/telemetry/log';
import { createOpsServer, listen } from '#libs/telemetry/ops';
import { queuePages } from './queue-pages.ts';

/** Milliseconds between a death and its replacement. */
const restartAfter = 1_000;

/** In a forked process: sends its metrics to the primary when asked. */
export function shareMetrics(register: Registry): void {
  AggregatorRegistry.setRegistries(register);
  new AggregatorRegistry();
}

export async function runPrimary(config: ApiConfig, log: Log): Promise<void> {
  const registry = new AggregatorRegistry();
  const redis = connectRedis(config.redis, 'producer', log);
  // its processes log what it finds
  const redisHealth = watchRedis(redis.client, () => {});
  const producer = createProducer(redis, config.queueShards);
  const listening = new Set<number>();
  let hasListened = false;
  let stopping = false;

  cluster.on('listening', (worker) => {
    hasListened = true;
    listening.add(worker.id);
    if (listening.size === config.webConcurrency)
      log.info({ processes: listening.size }, 'all processes are listening');
  });
  cluster.on('exit', (worker, code, signal) => {
    listening.delete(worker.id);
    if (stopping) return;
    // a process that could not start at all, for example because its port is taken, has logged why
    if (!hasListened) process.exit(1);
    log.error({ worker: worker.process.pid, code, signal }, 'an API process died and is being replaced');
    setTimeout(() => !stopping && cluster.fork(), restartAfter);
  });

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
    readiness: async () => {
      const processes = listening.size;
      return { ready: !stopping && processes > 0, processes, warnings: redisHealth.warnings() };
    },
    metrics: async () => ({ type: registry.contentType, text: await registry.clusterMetrics() }),
    queues: queuePages(() => producer.queues()),
  });
  createLifecycle({ deadline: 15_000, log }).onStop([
    { name: 'processes', stop: stopWorkers },
    { name: 'queue', stop: () => producer.close() },
    { name: 'redis health', stop: () => redisHealth.close() },
    { name: 'redis', stop: () => redis.close() },
    { name: 'operations port', stop: () => ops.close() },
  ]);
  try {
    const opsPort = await listen(ops, config.opsHost, config.opsPort, 'OPS_PORT');
    log.info({ processes: config.webConcurrency, opsPort }, 'forking');
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
  for (let count = 0; count < config.webConcurrency; count += 1) cluster.fork();
}
