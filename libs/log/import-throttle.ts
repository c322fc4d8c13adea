/**
 * Throttles imports: all imports of this process together have few batches in the queue, so that records that arrive
 * meanwhile hardly wait longer.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '#libs/base/db/database';
import type { Slots } from '#libs/base/slots';
import { unavailable } from '#libs/base/terms/problem';
import type { NewRecord } from '#libs/record/contract';
import { findKnown } from '#libs/record/known-ids';
import { countRejected } from '#libs/record/rejected';

/** Milliseconds between two checks whether a batch is stored: at first, and after some time. */
const checkEvery = { first: 15, last: 250 };
/** Milliseconds: if a batch is not stored by then, we assume that no worker is consuming the queue. */
const storeTimeout = 30_000;
/** Milliseconds to wait at the end, so that the same file sent again finds its records stored. */
const settleTimeout = 5_000;
/** A record's rough size in bytes, by which records are grouped into jobs. */
const roughSize = 600;

type Record = (record: NewRecord, organizationId: string, bytes: number) => Promise<'queued' | 'persisted'>;

/** The batches of one import, one after the other. */
interface ImportStream {
  /** Resolves once the batch is safe; the batch before may still wait in the queue. */
  store(records: NewRecord[]): Promise<void>;
  /** Resolves once all batches are stored or rejected, or after a while. */
  settle(): Promise<void>;
}

interface ImportThrottle {
  /** `end`: aborts once the client has left. */
  open(organizationId: string, domainId: string, end: AbortSignal): ImportStream;
}

interface Parts {
  db: Database;
  record: Record;
  slots: Slots;
}

export function createImportThrottle({ db, record, slots }: Parts): ImportThrottle {
  /** Whether Postgres has stored or rejected them all. */
  const areSettled = async (domainId: string, records: NewRecord[]): Promise<boolean> => {
    const ids = records.map(({ id }) => id);
    const known = await db.read((sql) => findKnown(sql, domainId, ids));
    const missing = records.filter(({ id }) => !known.has(id));
    return missing.length === 0 || (await db.read((sql) => countRejected(sql, missing))) === missing.length;
  };
  /** Checks the first record alone first, which is cheap while none is stored. */
  const isSettled = async (domainId: string, records: NewRecord[]): Promise<boolean> =>
    (await areSettled(domainId, records.slice(0, 1))) && areSettled(domainId, records);
  /** Waits until the records are stored or rejected; false after `storeTimeout`. A failed check is repeated. */
  const untilSettled = async (domainId: string, records: NewRecord[]): Promise<boolean> => {
    const until = performance.now() + storeTimeout;
    for (let pause = checkEvery.first; performance.now() < until; pause = Math.min(checkEvery.last, 1.2 * pause)) {
      if (await isSettled(domainId, records).catch(() => false)) return true;
      await wait(pause, undefined, { ref: false });
    }
    return false;
  };

  return {
    open: (organizationId, domainId, end) => {
      /** whether the batch before is stored or rejected; it keeps its slot until then, even if the client has left */
      let before = Promise.resolve(true);
      return {
        store: async (records) => {
          const leave = await slots.take(organizationId, end);
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
          if (isOnItsWay) before = untilSettled(domainId, records).finally(leave);
        },
        settle: async () => {
          await Promise.race([before, wait(settleTimeout, undefined, { signal: end, ref: false })]);
        },
      };
    },
  };
}
