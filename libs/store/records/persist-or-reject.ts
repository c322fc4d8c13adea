/**
 * Persists a batch that may contain a record that Postgres refuses. The batch is halved until that record is alone: it
 * is kept in `rejected_records` with its error, and the others are stored.
 */
import type { NewRecord } from '#libs/contract/record';
import { isBadData } from '../errors.ts';
import type { Database } from '../sql.ts';
import { type Persisted, persist } from './persist.ts';

export interface PersistedOrRejected extends Persisted {
  rejected: number;
}

export async function persistOrReject(
  db: Database,
  records: NewRecord[],
  options: { owe?: boolean } = {},
): Promise<PersistedOrRejected> {
  try {
    return { ...(await persist(db, records, options)), rejected: 0 };
  } catch (error) {
    if (!isBadData(error)) throw error;
    const [record] = records;
    if (records.length === 1 && record) {
      await reject(db, record, error);
      return { added: 0, counters: [], rejected: 1 };
    }
    const middle = Math.ceil(records.length / 2);
    const first = await persistOrReject(db, records.slice(0, middle), options);
    const second = await persistOrReject(db, records.slice(middle), options);
    return {
      added: first.added + second.added,
      counters: [...first.counters, ...second.counters],
      rejected: first.rejected + second.rejected,
    };
  }
}

/** A job that is delivered again rejects the same record again: it is listed once. */
async function reject(db: Database, record: NewRecord, error: unknown): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const payload = JSON.stringify(record);
  await db.run(
    (sql) => sql`
      insert into rejected_records (error_code, error, record)
      select ${code}, ${message}, ${payload}
      where not exists (select from rejected_records where record = ${payload})`,
  );
}
