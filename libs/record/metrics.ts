/** Metrics of recording, the queues and the epochs. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { fractions } from '#libs/base/ops/metrics';
import { by, type GaugeQuery, type SampledGauge } from '#libs/base/ops/sampled-gauges';

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
    ignoredFields: new Counter({
      name: 'assent_ignored_fields_total',
      help: 'Fields left out of records, displays and imported rows that were taken, by field; `unknown` are those that no record has',
      labelNames: ['field'],
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
  // without a zero first, a rate misses the first count
  for (const outcome of outcomes) metrics.records.inc({ outcome }, 0);
  // absent in processes that do not know it, where a 0 would be wrong
  metrics.epochInterval.remove();
  return metrics;
}

export type RecordMetrics = ReturnType<typeof createRecordMetrics>;

interface Shard {
  shard: number;
  /** by state */
  jobs: Record<string, number>;
  /** seconds */
  oldest: number;
}

/** Of the record queues, which all processes share. */
export const queueGauges: SampledGauge<Shard[]>[] = [
  {
    name: 'assent_queue_jobs',
    help: 'Jobs in the record queues, by shard and state',
    labelNames: ['shard', 'state'],
    values: (shards) =>
      shards.flatMap(({ shard, jobs }) =>
        Object.entries(jobs).map(([state, count]): [Record<string, string | number>, number] => [
          { shard, state },
          count,
        ]),
      ),
  },
  {
    name: 'assent_queue_oldest_job_age_seconds',
    help: 'Age of the oldest job that is not done and has not failed (of the delayed jobs, only the next one due counts), by shard',
    labelNames: ['shard'],
    values: (shards) => shards.map(({ shard, oldest }) => [{ shard }, oldest]),
  },
];

interface Backlog {
  /** at most `most` are counted */
  rejectedRecords: number;
  epochsClosed: number;
  epochOpen: number;
  /** 0 if the derivation has finished all closed epochs */
  derivationLag: Record<string, number>;
}

const most = 100_000;

export const recordBacklog = (derivations: string[]): GaugeQuery<Backlog> => ({
  ask: async (sql) => {
    const [row] = await sql<Backlog[]>`
      select
        (select count(*)::int from (select from rejected_records limit ${most}) as rejected) as "rejectedRecords",
        open - 1 as "epochsClosed",
        coalesce((
          select greatest(0, extract(epoch from clock_timestamp() - closed_at))::float8 from closed_epochs
          order by epoch desc limit 1
        ), 0) as "epochOpen",
        (
          select coalesce(json_object_agg(name, coalesce((
            select greatest(0, extract(epoch from clock_timestamp() - closed_at))::float8 from closed_epochs
            where closed_epochs.epoch > coalesce(derivations.epoch, 0) order by closed_epochs.epoch limit 1
          ), 0)), '{}')
          from unnest(${derivations}::text[]) as name left join derivations using (name)
        ) as "derivationLag"
      from epochs`;
    if (!row) throw new Error('the database lacks its epochs');
    return row;
  },
  gauges: [
    {
      name: 'assent_rejected_records',
      help: 'Records that Postgres rejected and that wait for a replay',
      values: ({ rejectedRecords }) => rejectedRecords,
    },
    {
      name: 'assent_epochs_closed',
      help: 'Number of the newest closed epoch',
      values: ({ epochsClosed }) => epochsClosed,
    },
    {
      name: 'assent_epoch_open_seconds',
      help: 'Seconds that the open epoch has been open',
      values: ({ epochOpen }) => epochOpen,
    },
    {
      name: 'assent_derivation_lag_seconds',
      help: 'Seconds since the closing of the oldest epoch that a derivation has not finished, by derivation',
      labelNames: ['derivation'],
      values: ({ derivationLag }) => by('derivation', derivationLag),
    },
  ],
});
