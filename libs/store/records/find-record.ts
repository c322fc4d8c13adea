/** One record of a domain, by its id. */
import { monthOf } from '#libs/contract/calendar';
import type { FullRecord } from '#libs/contract/responses';
import { timeOf } from '#libs/contract/uuid';
import type { Sql } from '../sql.ts';
import { columns, type Row, toRecord } from './full-record.ts';
import { joinLog, joinNames, numberOf } from './names.ts';

export interface WantedRecord {
  domainId: string;
  recordId: string;
  /** look for its position in this log only */
  log?: number | undefined;
}

export interface FoundRecord {
  record: FullRecord;
  /** what its entry is made of, once a checkpoint covers it: 32 bytes as stored, and 16 */
  sealed: { leaf: Buffer; secret: Buffer } | undefined;
}

/** Undefined also once retention has dropped its month. */
export async function findRecord(
  sql: Sql,
  { domainId, recordId, log }: WantedRecord,
): Promise<FoundRecord | undefined> {
  const [row] = await sql<(Row & { leaf: Buffer | null; secret: Buffer | null })[]>`
    select ${columns(sql)}, place.leaf, place.secret
    from records r ${joinNames(sql)} ${joinLog(sql, log)}
    where r.domain_number = ${numberOf(sql, domainId)} and r.id = ${recordId}
      and not exists (
        select from record_months where month = ${monthOf(timeOf(recordId))} and dropped_at is not null
      )`;
  if (!row) return undefined;
  const { leaf, secret } = row;
  return { record: toRecord(row), sealed: leaf && secret ? { leaf, secret } : undefined };
}
