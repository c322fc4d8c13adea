/**
 * Stores a batch that may contain records that cannot be stored: the others are stored. Records that Postgres refuses are
 * kept in `rejected_records` with their error. Records of deleted domains may be half of a batch, and cost no statement of
 * their own. On any error but an outage the batch is halved until the bad record is alone; a slow one only with
 * `halveSlow`.
 */

import type { Database } from '#libs/base/db/database';
import { faultOf } from '#libs/base/db/errors';
import type { Log } from '#libs/base/ops/process-log';
import type { NewRecord } from './contract.ts';
import type { RecordMetrics } from './metrics.ts';
import { type Persisted, persist } from './persist/persist.ts';
import { keepRejected, type Rejection } from './rejected.ts';

/** Records that failed alone, one after the other, with none stored between them: then the cause is Postgres, not a record. */
const maxFailuresInARow = 3;

interface StoreOptions {
  /** also notes the counters in `owed_raises`, for a caller that cannot raise them in Redis itself */
  owe?: boolean;
  /** A batch whose statement takes too long is halved. Otherwise the error is thrown at once. Default true. */
  halveSlow?: boolean;
}

interface Stored extends Pick<Persisted, 'added' | 'counters'> {
  rejected: number;
}

interface StoredInPart extends Pick<Persisted, 'added' | 'counters'> {
  /** refused by Postgres, or of a domain that does not exist */
  rejections: Rejection[];
  /** of records that failed alone for another reason; the counters of the others are then in `owed_raises` */
  errors: unknown[];
}

/** Returns the rejections without saving them. Throws if Postgres is unavailable, or is too slow and `halveSlow` is off. */
export async function storeInPart(
  db: Database,
  records: NewRecord[],
  { halveSlow = true, ...options }: StoreOptions = {},
): Promise<StoredInPart> {
  const stored: StoredInPart = { added: 0, counters: [], rejections: [], errors: [] };
  let failuresInARow = 0;

  const storePiece = async (piece: NewRecord[], owe: boolean): Promise<void> => {
    if (failuresInARow >= maxFailuresInARow) return;
    try {
      const { added, counters, ofUnknownDomain } = await persist(db, piece, { owe, isPartial: true });
      failuresInARow = 0;
      stored.added += added;
      stored.counters.push(...counters);
      stored.rejections.push(...ofUnknownDomain.map(ofNoDomain));
    } catch (error) {
      const fault = faultOf(error);
      if (fault === 'outage' || (fault === 'slow' && !halveSlow)) throw error;
      const [record] = piece;
      if (piece.length > 1) {
        const middle = Math.ceil(piece.length / 2);
        // the caller gets no counters if a later piece fails for good
        const owes = owe || fault !== 'row';
        await storePiece(piece.slice(0, middle), owes);
        await storePiece(piece.slice(middle), owes);
      } else if (fault === 'row' && record) {
        failuresInARow = 0;
        stored.rejections.push(refused(record, error));
      } else {
        failuresInARow += 1;
        stored.errors.push(error);
      }
    }
  };
  await storePiece(records, options.owe ?? false);
  return stored;
}

/**
 * Stores a batch and keeps its rejections in `rejected_records`. Throws if Postgres is unavailable, or is too slow and
 * `halveSlow` is off. If single records fail for another reason, it stores the others, then throws the first of these
 * errors. After three such failures in a row it does not try the rest.
 */
export async function persistOrReject(db: Database, records: NewRecord[], options?: StoreOptions): Promise<Stored> {
  const { rejections, errors, ...stored } = await storeInPart(db, records, options);
  if (rejections.length > 0) await db.write((sql) => keepRejected(sql, rejections));
  if (errors.length > 0) throw errors[0];
  return { ...stored, rejected: rejections.length };
}

/**
 * Like `persistOrReject`, with metrics. A batch that takes too long is not halved: the caller stores its records tenant by
 * tenant.
 */
export async function persistWithMetrics(
  { db, metrics, log }: { db: Database; metrics: RecordMetrics; log: Pick<Log, 'error'> },
  records: NewRecord[],
  options?: Pick<StoreOptions, 'owe'>,
): Promise<Stored> {
  const finish = metrics.persistDuration.startTimer();
  const stored = await persistOrReject(db, records, { ...options, halveSlow: false });
  finish();
  const { added, rejected } = stored;
  metrics.batchSize.observe(records.length);
  metrics.records.inc({ outcome: 'duplicate' }, records.length - added - rejected);
  if (rejected > 0) {
    metrics.records.inc({ outcome: 'rejected' }, rejected);
    log.error({ rejected }, 'Postgres rejected records; see: assent records rejected');
  }
  return stored;
}

/** With Postgres' code for a foreign-key violation. */
const ofNoDomain = (record: NewRecord): Rejection => ({
  record,
  errorCode: '23503',
  error: `no domain ${record.domainId}, so the record has no domain_number`,
});

const refused = (record: NewRecord, error: unknown): Rejection => ({
  record,
  errorCode: error instanceof Error && 'code' in error ? String(error.code) : '',
  error: error instanceof Error ? error.message : String(error),
});
