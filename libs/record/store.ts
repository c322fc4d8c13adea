/**
 * Persists a batch that may contain records that cannot be stored: the others are stored. Records that Postgres refuses
 * are kept in `rejected_records` with their error. Those of a domain that is gone may be half of all that comes, and cost
 * no statement of their own. For any other error but an outage the batch is halved until the bad record is alone.
 */

import type { Database } from '#libs/base/db/database';
import { isBadData, isOutage } from '#libs/base/db/errors';
import type { Log } from '#libs/base/ops/process-log';
import type { NewRecord } from './contract.ts';
import type { RecordMetrics } from './metrics.ts';
import { type Persisted, persist } from './persist/persist.ts';
import { keepRejected, type Rejection } from './rejected.ts';

/** Records that failed alone, one after the other, with none stored between them: then it is Postgres, not they. */
const enough = 3;

type Stored = Pick<Persisted, 'added' | 'counters'>;

interface PersistedOrRejected extends Stored {
  rejected: number;
}

interface PersistedInPart extends Stored {
  /** what Postgres refused, or belongs to no domain */
  rejections: Rejection[];
}

interface PersistOptions {
  owe?: boolean;
  /** Whether the caller goes no further with this error: then a batch that fails is not halved. */
  isEnd?: (error: unknown) => boolean;
}

/**
 * Rejects with the error of the first record that neither could be stored nor is refused for what it is: one that takes
 * longer than a statement may, or an error that says nothing of rows. Then all others are stored, and what they counted is
 * owed, unless Postgres fails whatever it gets.
 */
export async function persistOrReject(
  db: Database,
  records: NewRecord[],
  options: PersistOptions = {},
): Promise<PersistedOrRejected> {
  const outcome = newOutcome();
  await persistPiece(db, records, options, outcome);
  const { added, counters, rejections } = outcome;
  if (rejections.length > 0) await db.write((sql) => keepRejected(sql, rejections));
  if (outcome.errors.length > 0) throw outcome.errors[0];
  return { added, counters, rejected: rejections.length };
}

/** The same, with how long it took and what became of the batch in the process's metrics and log. */
export async function persistWatched(
  { db, metrics, log }: { db: Database; metrics: RecordMetrics; log: Pick<Log, 'error'> },
  records: NewRecord[],
  options: PersistOptions,
): Promise<PersistedOrRejected> {
  const finish = metrics.persistDuration.startTimer();
  const persisted = await persistOrReject(db, records, options);
  finish();
  const { added, rejected } = persisted;
  metrics.batchSize.observe(records.length);
  metrics.records.inc({ outcome: 'duplicate' }, records.length - added - rejected);
  if (rejected > 0) {
    metrics.records.inc({ outcome: 'rejected' }, rejected);
    log.error({ rejected }, 'Postgres rejected records; see: assent records rejected');
  }
  return persisted;
}

/** Stores what can be stored; what Postgres refuses is returned with its errors, and kept nowhere. Rejects likewise. */
export async function persistInPart(
  db: Database,
  records: NewRecord[],
  options: PersistOptions = {},
): Promise<PersistedInPart> {
  const outcome = newOutcome();
  await persistPiece(db, records, options, outcome);
  if (outcome.errors.length > 0) throw outcome.errors[0];
  return outcome;
}

interface Outcome extends PersistedInPart {
  /** records that failed alone and are not refused, with none stored since */
  failedInARow: number;
  /** of all of these */
  errors: unknown[];
}

const newOutcome = (): Outcome => ({ added: 0, counters: [], rejections: [], failedInARow: 0, errors: [] });

async function persistPiece(db: Database, records: NewRecord[], options: PersistOptions, outcome: Outcome) {
  if (outcome.failedInARow >= enough) return;
  try {
    const { added, counters, ofUnknownDomain } = await persist(db, records, { ...options, isPartial: true });
    outcome.failedInARow = 0;
    outcome.added += added;
    outcome.counters.push(...counters);
    outcome.rejections.push(...ofUnknownDomain.map(ofNoDomain));
  } catch (error) {
    const isRefused = isBadData(error);
    if (isOutage(error) || (options.isEnd?.(error) && !isRefused)) throw error;
    const [record] = records;
    if (records.length === 1 && record) {
      outcome.failedInARow = isRefused ? 0 : outcome.failedInARow + 1;
      if (isRefused) outcome.rejections.push(refused(record, error));
      else outcome.errors.push(error);
      return;
    }
    const middle = Math.ceil(records.length / 2);
    // the caller may never learn what was counted
    const more = isRefused ? options : { ...options, owe: true };
    await persistPiece(db, records.slice(0, middle), more, outcome);
    await persistPiece(db, records.slice(middle), more, outcome);
  }
}

/** As Postgres says of a row that refers to nothing. */
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
