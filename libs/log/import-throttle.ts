/**
 * Throttles imports: of all imports of this process together, few batches are in the queue at a time, so that what is
 * recorded meanwhile waits no longer than it does behind a busy moment.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '#libs/base/db/database';
import type { Places } from '#libs/base/places';
import { unavailable } from '#libs/base/terms/problem';
import type { NewRecord } from '#libs/record/contract';
import { findKnown } from '#libs/record/known-ids';
import { countRejected } from '#libs/record/rejected';

/** Milliseconds between two looks whether a batch is stored: at first, and after some time. */
const looks = { first: 15, last: 250 };
/** Milliseconds after which nobody seems to take anything from the queue. */
const storeTimeout = 30_000;
/** Milliseconds to wait at the end, so that the same file sent again finds its records. */
const settleTimeout = 5_000;
/** Bytes: a record's rough size, by which jobs are made. */
const roughSize = 600;

type Record = (record: NewRecord, organizationId: string, bytes: number) => Promise<'queued' | 'persisted'>;

/** The batches of one import, one after the other. */
interface ImportStream {
  /** Resolves once they are safe, while those before them may still be on their way. */
  store(records: NewRecord[]): Promise<void>;
  /** Resolves once all that went through is stored or refused, or after a while. */
  settle(): Promise<void>;
}

interface ImportThrottle {
  /** `end`: aborts once nobody waits for the import any more. */
  open(organizationId: string, domainId: string, end: AbortSignal): ImportStream;
}

interface Parts {
  db: Database;
  record: Record;
  places: Places;
}

export function createImportThrottle({ db, record, places }: Parts): ImportThrottle {
  /** Whether Postgres has stored or refused them all. */
  const areSettled = async (domainId: string, records: NewRecord[]): Promise<boolean> => {
    const ids = records.map(({ id }) => id);
    const known = await db.read((sql) => findKnown(sql, domainId, ids));
    const missing = records.filter(({ id }) => !known.has(id));
    return missing.length === 0 || (await db.read((sql) => countRejected(sql, missing))) === missing.length;
  };
  /** The first one tells where nothing has been done yet. */
  const isSettled = async (domainId: string, records: NewRecord[]): Promise<boolean> =>
    (await areSettled(domainId, records.slice(0, 1))) && areSettled(domainId, records);
  /** Tells whether they are. A look that fails says nothing. */
  const settled = async (domainId: string, records: NewRecord[]): Promise<boolean> => {
    const until = performance.now() + storeTimeout;
    for (let pause = looks.first; performance.now() < until; pause = Math.min(looks.last, 1.2 * pause)) {
      if (await isSettled(domainId, records).catch(() => false)) return true;
      await wait(pause, undefined, { ref: false });
    }
    return false;
  };

  return {
    open: (organizationId, domainId, end) => {
      /** whether the batch before is stored or refused; it keeps its place until then, whoever waits for it */
      let before = Promise.resolve(true);
      return {
        store: async (records) => {
          const leave = await places.take(organizationId, end);
          let isOnItsWay = false;
          try {
            if (!(await before))
              throw unavailable(
                'records are not being stored for now; what was queued is safe, so send the file again',
              );
            const outcomes = await Promise.all(records.map((each) => record(each, organizationId, roughSize)));
            isOnItsWay = outcomes.includes('queued');
          } finally {
            if (!isOnItsWay) leave();
          }
          if (isOnItsWay) before = settled(domainId, records).finally(leave);
        },
        settle: async () => {
          await Promise.race([before, wait(settleTimeout, undefined, { signal: end, ref: false })]);
        },
      };
    },
  };
}
