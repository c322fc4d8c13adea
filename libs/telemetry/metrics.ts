/** The metrics, all in one place; names in the contract's words. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { failures } from '#libs/contract/webhook';
import { version } from '#libs/runtime/version';

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** an import's answer comes after its last row */
const minutes = [15, 60, 300];
const recordOutcomes = ['queued', 'persisted', 'stored', 'duplicate', 'rejected', 'refused'];
const displayOutcomes = ['counted', 'stored'];
const statsSources = ['redis', 'postgres'];
const logLevels = ['warn', 'error'];
const backgroundTasks = [
  'announce_shards',
  'export_spans',
  'find_shards',
  'keep_widget_files',
  'note_busy_visitor',
  'observe_backlog',
  'observe_queues',
];

export function createMetrics() {
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
      buckets: [...seconds, ...minutes],
      registers,
    }),
    faults: new Counter({
      name: 'assent_http_faults_total',
      help: 'Requests answered with 5xx through a fault of the service or its stores',
      registers,
    }),
    records: new Counter({
      name: 'assent_records_total',
      help: 'Records by outcome: queued or persisted (directly) or refused by the API; then stored, duplicate or rejected',
      labelNames: ['outcome'],
      registers,
    }),
    refusals: new Counter({
      name: 'assent_refusals_total',
      help: 'Refused record requests by error code',
      labelNames: ['code'],
      registers,
    }),
    displays: new Counter({
      name: 'assent_displays_total',
      help: 'Banners shown by outcome: counted, stored',
      labelNames: ['outcome'],
      registers,
    }),
    persistDuration: new Histogram({
      name: 'assent_persist_duration_seconds',
      help: 'Duration of one persist statement',
      buckets: seconds,
      registers,
    }),
    raiseDuration: new Histogram({
      name: 'assent_raise_duration_seconds',
      help: 'Duration of raising the counters of one persist statement in Redis',
      buckets: seconds,
      registers,
    }),
    batchSize: new Histogram({
      name: 'assent_persist_batch_records',
      help: 'Records in one persist statement',
      buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2000],
      registers,
    }),
    redisUsable: new Gauge({
      name: 'assent_redis_usable',
      help: '1 while this process can use Redis; while an API cannot, records go straight to Postgres',
      // of several processes behind one port the worst
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
    statsReads: new Counter({
      name: 'assent_stats_reads_total',
      help: 'Reads of statistics by source',
      labelNames: ['source'],
      registers,
    }),
    fills: new Counter({
      name: 'assent_counter_fills_total',
      help: 'Organizations whose counters were filled from Postgres',
      registers,
    }),
    drift: new Counter({
      name: 'assent_counter_drift_total',
      help: 'Counters in Redis that were found to differ from Postgres',
      registers,
    }),
    epochInterval: new Gauge({
      name: 'assent_epoch_interval_seconds',
      help: 'Seconds after which the open epoch is to be closed',
      registers,
    }),
    entriesSealed: new Counter({
      name: 'assent_log_entries_sealed_total',
      help: 'Records that got their position in a sealed log',
      registers,
    }),
    checkpoints: new Counter({
      name: 'assent_log_checkpoints_total',
      help: 'Checkpoints of sealed logs that were signed and published',
      registers,
    }),
    logsHalted: new Gauge({
      name: 'assent_logs_halted',
      help: 'Sealed logs that get no positions, because Postgres lacks, or may lack, what was sealed before',
      registers,
    }),
    timestampAge: new Gauge({
      name: 'assent_timestamp_age_seconds',
      help: 'Seconds since the newest checkpoints were last found time-stamped; 0 without TIMESTAMP_URL',
      registers,
    }),
    webhookTries: new Counter({
      name: 'assent_webhook_tries_total',
      help: 'Tries to deliver a message to a webhook by outcome: delivered, or why it failed',
      labelNames: ['outcome'],
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
  // a rate misses the first count of what begins with it
  for (const outcome of recordOutcomes) metrics.records.inc({ outcome }, 0);
  for (const outcome of displayOutcomes) metrics.displays.inc({ outcome }, 0);
  for (const source of statsSources) metrics.statsReads.inc({ source }, 0);
  for (const outcome of ['delivered', ...failures]) metrics.webhookTries.inc({ outcome }, 0);
  for (const level of logLevels) metrics.suppressedLines.inc({ level }, 0);
  for (const task of backgroundTasks) metrics.backgroundErrors.inc({ task }, 0);
  // absent where a process knows nothing of it: a 0 would say that all is well, or that nothing is
  const { replicaUsed, replicaLag, epochInterval, logsHalted, timestampAge } = metrics;
  for (const gauge of [replicaUsed, replicaLag, epochInterval, logsHalted, timestampAge]) gauge.remove();
  return metrics;
}

export type Metrics = ReturnType<typeof createMetrics>;
