/**
 * Persists a batch that may contain records that Postgres refuses: the others are stored, and these are kept in
 * `rejected_records` with their error. Records of a domain that is gone may be half of all that comes, and cost no
 * statement of their own. For any other error the batch is halved until the bad record is alone.
 */
import type { NewRecord } from '#libs/contract/record';
import { isBadData } from '../errors.ts';
import type { Database } from '../sql.ts';
import { type Persisted, persistKnown } from './persist.ts';
import { keepRejected, type Rejection } from './rejected.ts';

export interface PersistedOrRejected extends Persisted {
  rejected: number;
}

export interface PersistedInPart extends Persisted {
  rejections: Rejection[];
}

export async function persistOrReject(
  db: Database,
  records: NewRecord[],
  options: { owe?: boolean } = {},
): Promise<PersistedOrRejected> {
  const { rejections, ...persisted } = await persistInPart(db, records, options);
  if (rejections.length > 0) await db.run((sql) => keepRejected(sql, rejections));
  return { ...persisted, rejected: rejections.length };
}

/** Stores what can be stored; the rest is returned with its errors, and kept nowhere. */
export async function persistInPart(
  db: Database,
  records: NewRecord[],
  options: { owe?: boolean } = {},
): Promise<PersistedInPart> {
  try {
    const { ofUnknownDomain, ...persisted } = await persistKnown(db, records, options);
    return { ...persisted, rejections: ofUnknownDomain.map(ofNoDomain) };
  } catch (error) {
    if (!isBadData(error)) throw error;
    const [record] = records;
    if (records.length === 1 && record) return { added: 0, counters: [], rejections: [refused(record, error)] };
    const middle = Math.ceil(records.length / 2);
    const first = await persistInPart(db, records.slice(0, middle), options);
    const second = await persistInPart(db, records.slice(middle), options);
    return {
      added: first.added + second.added,
      counters: [...first.counters, ...second.counters],
      rejections: [...first.rejections, ...second.rejections],
    };
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
