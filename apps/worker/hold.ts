/**
 * What a worker holds of jobs in memory, over all shards: while Postgres is away or slow they stay, and more are fetched.
 * Past a bound each shard fetches only while it holds none, and the rest waits in Redis.
 */
import type { NewRecord } from '#libs/contract/record';

export interface Hold {
  isFull(): boolean;
  /** Counts the records until `work` has ended. */
  during<T>(records: NewRecord[], work: () => Promise<T>): Promise<T>;
}

/** `most`: bytes; `onChange`: told whenever the bound is passed, in either direction. */
export function createHold(most: number, onChange: (isFull: boolean) => void): Hold {
  let held = 0;
  const add = (bytes: number) => {
    const wasFull = held > most;
    held += bytes;
    const isFull = held > most;
    if (isFull !== wasFull) onChange(isFull);
  };
  return {
    isFull: () => held > most,
    during: async (records, work) => {
      const bytes = records.reduce((sum, record) => sum + roughSize(record), 0);
      add(bytes);
      try {
        return await work();
      } finally {
        add(-bytes);
      }
    },
  };
}

/** Bytes of memory, as measured, with what the queue keeps of the job. */
const roughSize = ({ tcString = '', gppString = '', pageUrl = '', preferences, metadata }: NewRecord): number =>
  500 + tcString.length + gppString.length + pageUrl.length + 150 * (sizeOf(preferences) + sizeOf(metadata));

const sizeOf = (map: object | undefined): number => (map ? Object.keys(map).length : 0);
