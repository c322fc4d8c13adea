/**
 * Persists a batch that may contain records that cannot be stored: the others are stored. Records that Postgres refuses
 * are kept in `rejected_records` with their error. Those of a domain that is gone may be half of all that comes, and cost
 * no statement of their own. For any other error but an outage the batch is halved until the bad record is alone.
 */
import type { NewRecord } from '#libs/contract/record';
import { isBadData, isOutage } from '../errors.ts';
import type { Database } from '../sql.ts';
import { type Persisted, persistKnown } from './persist.ts';
import { keepRejected, type Rejection } from './rejected.ts';

/** Records that failed alone, one after the other, with none stored between them: then it is Postgres, not they. */
const enough = 3;

export interface PersistedOrRejected extends Persisted {
  rejected: number;
}

export interface PersistedInPart extends Persisted {
  rejections: Rejection[];
}

export interface PersistOptions {
  owe?: boolean;
  /** Whether the caller has to end: then a batch that fails is not halved. */
  isOver?: () => boolean;
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
  const trail: Trail = { failedInARow: 0, errors: [] };
  const { rejections, ...persisted } = await persistPiece(db, records, options, trail);
  if (rejections.length > 0) await db.run((sql) => keepRejected(sql, rejections));
  if (trail.errors.length > 0) throw trail.errors[0];
  return { ...persisted, rejected: rejections.length };
}

/** Stores what can be stored; what Postgres refuses is returned with its errors, and kept nowhere. Rejects likewise. */
export async function persistInPart(
  db: Database,
  records: NewRecord[],
  options: PersistOptions = {},
): Promise<PersistedInPart> {
  const trail: Trail = { failedInARow: 0, errors: [] };
  const persisted = await persistPiece(db, records, options, trail);
  if (trail.errors.length > 0) throw trail.errors[0];
  return persisted;
}

/** Of records that failed alone and are not refused. */
interface Trail {
  failedInARow: number;
  errors: unknown[];
}

async function persistPiece(
  db: Database,
  records: NewRecord[],
  options: PersistOptions,
  trail: Trail,
): Promise<PersistedInPart> {
  if (trail.failedInARow >= enough) return nothing;
  try {
    const { ofUnknownDomain, ...persisted } = await persistKnown(db, records, options);
    trail.failedInARow = 0;
    return { ...persisted, rejections: ofUnknownDomain.map(ofNoDomain) };
  } catch (error) {
    const isRefused = isBadData(error);
    if (isOutage(error) || (options.isOver?.() && !isRefused)) throw error;
    const [record] = records;
    if (records.length === 1 && record) {
      trail.failedInARow = isRefused ? 0 : trail.failedInARow + 1;
      if (isRefused) return { ...nothing, rejections: [refused(record, error)] };
      trail.errors.push(error);
      return nothing;
    }
    const middle = Math.ceil(records.length / 2);
    // the caller may never learn what was counted
    const more = isRefused ? options : { ...options, owe: true };
    const first = await persistPiece(db, records.slice(0, middle), more, trail);
    const second = await persistPiece(db, records.slice(middle), more, trail);
    return {
      added: first.added + second.added,
      counters: [...first.counters, ...second.counters],
      rejections: [...first.rejections, ...second.rejections],
    };
  }
}

const nothing: PersistedInPart = { added: 0, counters: [], rejections: [] };

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
