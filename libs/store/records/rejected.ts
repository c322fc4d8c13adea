/** Records that Postgres refused, kept with the error until they are replayed. */
import type { Sql } from '../sql.ts';

export interface RejectedRecord {
  id: number;
  rejectedAt: Date;
  errorCode: string;
  error: string;
  /** the record as JSON */
  record: string;
}

/** Newest first; `limit` null for all. */
export const listRejected = (sql: Sql, limit: number | null) => sql<RejectedRecord[]>`
  select id, rejected_at as "rejectedAt", error_code as "errorCode", error, record
  from rejected_records order by id desc limit ${limit}`;

export const deleteRejected = (sql: Sql, id: number) => sql`delete from rejected_records where id = ${id}`;
