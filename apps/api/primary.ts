/** WEB_CONCURRENCY above 1: the first process forks the API, replaces what dies, and answers on the operations port. */
import cluster from 'node:cluster';
import { AggregatorRegistry } from 'prom-client';
import type { ApiConfig } from '#libs/config';
import { createLifecycle } from '#libs/lifecycle';
import type { Log } from '#libs/telemetry/log';
import { createOpsServer, listen } from '#libs/telemetry/ops';

/** Milliseconds between a death and its replacement, so that a broken start does not spin. */
const restartAfter = 1_000;

export async function runPrimary(config: ApiConfig, log: Log): Promise<void> {
  const registry = new AggregatorRegistry();
  const listening = new Set<number>();
  let stopping = false;

  cluster.on('listening', (worker) => listening.add(worker.id));
  cluster.on('exit', (worker, code, signal) => {
    listening.delete(worker.id);
    if (stopping) return;
    log.error({ worker: worker.process.pid, code, signal }, 'an API process ended; another takes its place');
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
    readiness: async () => ({ ready: !stopping && listening.size > 0, processes: String(listening.size) }),
    metrics: async () => ({ type: registry.contentType, text: await registry.clusterMetrics() }),
  });
  createLifecycle({ deadline: 15_000, log }).onStop([
    { name: 'processes', stop: stopWorkers },
    { name: 'operations port', stop: () => ops.close() },
  ]);
  for (let count = 0; count < config.webConcurrency; count += 1) cluster.fork();
  await listen(ops, config.opsHost, config.opsPort, 'OPS_PORT');
  log.info({ processes: config.webConcurrency, opsPort: config.opsPort }, 'forked');
}
