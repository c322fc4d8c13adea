/**
 * What a worker holds of jobs in memory, over all shards: while Postgres is away or slow they stay, and more are fetched.
 * Past a bound each shard fetches only while it holds none, and the rest waits in Redis.
 */

type Fields = Record<string, unknown>;

/** By its data alone. */
interface Job {
  data: unknown;
}

export interface Hold {
  isFull(): boolean;
  add(job: Job): void;
  /** Once is enough, and more do no harm. */
  remove(job: Job): void;
}

/** `most`: bytes; `onChange`: told whenever the bound is passed, in either direction. */
export function createHold(most: number, onChange: (isFull: boolean) => void): Hold {
  const held = new Map<Job, number>();
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

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0);
const entriesOf = (value: unknown): number => (isFields(value) ? Object.keys(value).length : 0);
const sumOf = (list: unknown, of: (value: unknown) => number): number =>
  Array.isArray(list) ? list.reduce<number>((sum, each) => sum + of(each), 0) : 0;
