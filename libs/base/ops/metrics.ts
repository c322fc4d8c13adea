/** Metrics of every process: its release, requests, stores, and background work. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { version } from '../version.ts';

/** Seconds, for what usually takes a fraction of a second. */
export const fractions = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** an import responds after its last row */
const minuteBuckets = [15, 60, 300];
const logLevels = ['warn', 'error'];

export function createBaseMetrics() {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const registers = [register];
  new Gauge({
    name: 'assent_build_info',
    help: '1, with the release of this process',
    labelNames: ['version'],
    aggregator: 'max',
    registers,
  }).set({ version }, 1);
  const metrics = {
    register,
    requests: new Histogram({
      name: 'assent_http_request_duration_seconds',
      help: 'Duration of requests, from arrival to response',
      labelNames: ['route', 'method', 'status'],
      buckets: [...fractions, ...minuteBuckets],
      registers,
    }),
    faults: new Counter({
      name: 'assent_http_faults_total',
      help: 'Responses with 5xx through a fault of the service or its stores',
      registers,
    }),
    redisUsable: new Gauge({
      name: 'assent_redis_usable',
      help: '1 while this process can use Redis; while an API cannot, records go straight to Postgres',
      // the worst of the processes behind one port
      aggregator: 'min',
      registers,
    }),
    replicaUsed: new Gauge({
      name: 'assent_replica_used',
      help: '1 while the log is read from the replica; 0 while it is read from the primary',
      aggregator: 'min',
      registers,
    }),
    replicaLag: new Gauge({
      name: 'assent_replica_lag_seconds',
      help: 'Seconds that the replica is behind the primary',
      aggregator: 'max',
      registers,
    }),
    suppressedLines: new Counter({
      name: 'assent_log_lines_suppressed_total',
      help: 'Log lines left out because one of the same text was written within the last second, by level',
      labelNames: ['level'],
      registers,
    }),
    backgroundErrors: new Counter({
      name: 'assent_background_errors_total',
      help: 'Failed background tasks that are tried again and not logged each time, by task',
      labelNames: ['task'],
      registers,
    }),
  };
  // from 0: a rate misses the first increment of a new series
  for (const level of logLevels) metrics.suppressedLines.inc({ level }, 0);
  // absent where it does not apply: a value would look like a state
  for (const gauge of [metrics.replicaUsed, metrics.replicaLag]) gauge.remove();
  return metrics;
}

export type BaseMetrics = ReturnType<typeof createBaseMetrics>;

/** Counts the failures of a background task from 0: a rate misses the first increment of a new series. */
export function countFailures({ backgroundErrors }: Pick<BaseMetrics, 'backgroundErrors'>, task: string): () => void {
  backgroundErrors.inc({ task }, 0);
  return () => backgroundErrors.inc({ task });
}
