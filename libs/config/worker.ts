/** What the worker reads. */
import { readConnections, readSettings } from './read.ts';

export function readWorkerConfig(environment?: NodeJS.ProcessEnv) {
  const values = readSettings(environment);
  return {
    ...readConnections(values),
    opsHost: values.OPS_HOST,
    opsPort: values.OPS_PORT ?? 3002,
    concurrency: values.WORKER_CONCURRENCY,
    retentionMonths: values.RECORD_RETENTION_MONTHS,
  };
}

export type WorkerConfig = ReturnType<typeof readWorkerConfig>;
