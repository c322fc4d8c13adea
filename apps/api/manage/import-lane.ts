/**
 * Imported records on their way through the queue: few at a time, all imports of this process together, so that what is
 * recorded meanwhile waits no longer than it does behind a busy moment.
 */
import { setTimeout as wait } from 'node:timers/promises';
import pLimit from 'p-limit';
import { unavailable } from '#libs/contract/problem';
import type { NewRecord } from '#libs/contract/record';
import { findKnown } from '#libs/store/records/known';
import { countRejected } from '#libs/store/records/rejected';
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
  records: NewRecord[];
  /** of its import */
  signal: AbortSignal;
}

export interface ImportLane {
  /** Resolves once they are safe and few others wait. `signal`: one for each import. */
  store(organizationId: string, domainId: string, records: NewRecord[], signal: AbortSignal): Promise<void>;
  /** Resolves once all that went through for this import is stored or refused, or after a while. */
  settle(signal: AbortSignal): Promise<void>;
}

export function createImportLane({ db, record }: { db: Database; record: Record }): ImportLane {
  const oneByOne = pLimit(1);
  const waiting = new Set<Batch>();

  /** Whether Postgres has stored or refused them all. */
  const areSettled = async (domainId: string, records: NewRecord[]): Promise<boolean> => {
    const ids = records.map(({ id }) => id);
    const known = await db.run((sql) => findKnown(sql, domainId, ids));
    const missing = records.filter(({ id }) => !known.has(id));
    return missing.length === 0 || (await db.run((sql) => countRejected(sql, missing))) === missing.length;
  };
  /** The first one tells where nothing has been done yet. */
  const isSettled = async ({ domainId, records }: Batch): Promise<boolean> =>
    (await areSettled(domainId, records.slice(0, 1))) && areSettled(domainId, records);
  /** Each for itself: one of another import, or one that nobody can store, says nothing of the others. */
  const look = async (batches: Iterable<Batch>): Promise<void> => {
    for (const batch of batches) if (await isSettled(batch)) waiting.delete(batch);
  };
  const ofImport = (signal: AbortSignal) => [...waiting].filter((batch) => batch.signal === signal);

  return {
    store: (organizationId, domainId, records, signal) =>
      oneByOne(async () => {
        signal.throwIfAborted();
        const outcomes = await Promise.all(records.map((each) => record(each, organizationId, roughSize)));
        if (outcomes.includes('queued')) waiting.add({ domainId, records, signal });
        const until = performance.now() + patience;
        for (;;) {
          if (waiting.size > ahead) await look(waiting);
          if (waiting.size <= ahead) return;
          if (performance.now() > until) {
            waiting.clear();
            throw unavailable('records are not being stored for now; what was queued is safe, so send the file again');
          }
          await wait(lookEvery, undefined, { signal });
        }
      }),
    settle: async (signal) => {
      const until = performance.now() + lastPatience;
      for (;;) {
        const own = ofImport(signal);
        await look(own);
        if (own.every((batch) => !waiting.has(batch)) || performance.now() > until) return;
        await wait(lookEvery, undefined, { signal });
      }
    },
  };
}
