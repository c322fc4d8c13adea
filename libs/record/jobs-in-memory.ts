/**
 * What a worker holds of jobs in memory, over all shards: while Postgres is away or slow they stay, and more are fetched.
 * Past a bound each shard fetches only while it holds none, and the rest waits in Redis.
 */
import type { Job } from 'bullmq';
import { isFields } from './queue.ts';

/** Bytes, roughly: more than the jobs of one busy shard take. */
const mostInAll = 128 * 1024 * 1024;

/** A job, by its data alone. */
type AnyJob = Pick<Job<unknown>, 'data'>;

export interface Hold {
  isFull(): boolean;
  add(job: AnyJob): void;
  /** Once is enough, and more do no harm. */
  remove(job: AnyJob): void;
}

/** `onChange`: told whenever the bound is passed, in either direction. `most`: bytes. */
export function createHold(onChange: (isFull: boolean) => void, most = mostInAll): Hold {
  const held = new Map<AnyJob, number>();
  let sum = 0;
  const change = (bytes: number) => {
    const wasFull = sum > most;
    sum += bytes;
    const isFull = sum > most;
    if (isFull !== wasFull) onChange(isFull);
  };
  return {
    isFull: () => sum > most,
    add: (job) => {
      const bytes = roughSize(job.data);
      held.set(job, bytes);
      change(bytes);
    },
    remove: (job) => {
      const bytes = held.get(job);
      held.delete(job);
      if (bytes !== undefined) change(-bytes);
    },
  };
}

/** Bytes of memory, as measured, with its records once they are unpacked. */
function roughSize(data: unknown): number {
  const { records, userAgents } = isFields(data) ? data : {};
  return sumOf(records, sizeOfRecord) + sumOf(userAgents, lengthOf);
}

function sizeOfRecord(record: unknown): number {
  if (!isFields(record)) return 0;
  const texts = lengthOf(record.tcString) + lengthOf(record.gppString) + lengthOf(record.pageUrl);
  return 500 + texts + 150 * (entriesOf(record.preferences) + entriesOf(record.metadata));
}

const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0);
const entriesOf = (value: unknown): number => (isFields(value) ? Object.keys(value).length : 0);
const sumOf = (list: unknown, of: (value: unknown) => number): number =>
  Array.isArray(list) ? list.reduce<number>((sum, each) => sum + of(each), 0) : 0;
