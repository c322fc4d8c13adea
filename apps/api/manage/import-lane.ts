/**
 * Imported records on their way through the queue: few at a time, all imports of this process together, so that what is
 * recorded meanwhile waits no longer than it does behind a busy moment.
 */
import { setTimeout as wait } from 'node:timers/promises';
import pLimit from 'p-limit';
import { unavailable } from '#libs/contract/problem';
import type { NewRecord } from '#libs/contract/record';
import { findKnown } from '#libs/store/records/known';
import type { Database } from '#libs/store/sql';

/** Batches in the queue that are not known to be stored; each has some hundred records. */
const ahead = 2;
/** milliseconds */
const lookEvery = 15;
/** Milliseconds after which nobody seems to take anything from the queue. */
const patience = 30_000;
/** Milliseconds to wait at the end, so that the same file sent again finds its records. */
const lastPatience = 5_000;
/** Bytes: a record's rough size, by which jobs are made. */
const roughSize = 600;

type Record = (record: NewRecord, organizationId: string, bytes: number) => Promise<'queued' | 'persisted'>;

interface Batch {
  domainId: string;
  ids: string[];
}

export interface ImportLane {
  /** Resolves once they are safe and few others wait. */
  store(organizationId: string, domainId: string, records: NewRecord[], signal: AbortSignal): Promise<void>;
  /** Resolves once all that went through is stored, or after a while. */
  settle(signal: AbortSignal): Promise<void>;
}

export function createImportLane({ db, record }: { db: Database; record: Record }): ImportLane {
  const oneByOne = pLimit(1);
  const waiting: Batch[] = [];

  const isStored = async ({ domainId, ids }: Batch): Promise<boolean> => {
    const known = await db.run((sql) => findKnown(sql, domainId, ids));
    return known.size === ids.length;
  };

  /** False where the oldest batch is not stored by then. */
  const awaitOldest = async (until: number, signal: AbortSignal): Promise<boolean> => {
    const [oldest] = waiting;
    if (!oldest) return true;
    while (!(await isStored(oldest))) {
      if (performance.now() > until) return false;
      await wait(lookEvery, undefined, { signal });
    }
    waiting.shift();
    return true;
  };

  return {
    store: (organizationId, domainId, records, signal) =>
      oneByOne(async () => {
        signal.throwIfAborted();
        const outcomes = await Promise.all(records.map((each) => record(each, organizationId, roughSize)));
        if (outcomes.includes('queued')) waiting.push({ domainId, ids: records.map(({ id }) => id) });
        const until = performance.now() + patience;
        while (waiting.length > ahead) {
          if (await awaitOldest(until, signal)) continue;
          // one of its records may have been refused by Postgres, and is listed there
          waiting.shift();
          throw unavailable('records are not being stored for now; what was queued is safe, so send the file again');
        }
      }),
    settle: (signal) =>
      oneByOne(async () => {
        const until = performance.now() + lastPatience;
        while (waiting.length > 0 && (await awaitOldest(until, signal)));
      }),
  };
}
