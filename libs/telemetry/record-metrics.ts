/** What is recorded, and what the queue and the epochs do. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { fractions } from './metrics.ts';

const outcomes = ['queued', 'persisted', 'stored', 'duplicate', 'rejected', 'refused'];

export function createRecordMetrics(register: Registry) {
  const registers = [register];
  const metrics = {
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
    persistDuration: new Histogram({
      name: 'assent_persist_duration_seconds',
      help: 'Duration of one persist statement',
      buckets: fractions,
      registers,
    }),
    batchSize: new Histogram({
      name: 'assent_persist_batch_records',
      help: 'Records in one persist statement',
      buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2000],
      registers,
    }),
    epochInterval: new Gauge({
      name: 'assent_epoch_interval_seconds',
      help: 'Seconds after which the open epoch is to be closed',
      registers,
    }),
  };
  // a rate misses the first count of what begins with it
  for (const outcome of outcomes) metrics.records.inc({ outcome }, 0);
  // absent where a process knows nothing of it: a 0 would say that all is well, or that nothing is
  metrics.epochInterval.remove();
  return metrics;
}

export type RecordMetrics = ReturnType<typeof createRecordMetrics>;
