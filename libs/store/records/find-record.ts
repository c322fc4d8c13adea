/** One record of a domain, by its id. */
import { monthOf } from '#libs/contract/calendar';
import type { FullRecord } from '#libs/contract/record';
import { timeOf } from '#libs/contract/uuid';
import type { Sql } from '../sql.ts';
import { columns, importedAtOf, type Row, toRecord } from './full-record.ts';
import { erasedCommitment, joinLog, joinNames, numberOf } from './names.ts';

export interface WantedRecord {
  domainId: string;
  recordId: string;
  /** look for its position in this log only */
  log?: number | undefined;
}

export interface FoundRecord {
  record: FullRecord;
  /** what its entry is made of, once a checkpoint covers it: 32 bytes as stored, and 16; of an erased one also the 32 of `private` */
  sealed: { leaf: Buffer; secret: Buffer; erased: Buffer | null; importedAt: string | null } | undefined;
}

/** Undefined also once retention has dropped its month. */
export async function findRecord(
  sql: Sql,
  { domainId, recordId, log }: WantedRecord,
): Promise<FoundRecord | undefined> {
  const [row] = await sql<(Row & { leaf: Buffer | null; secret: Buffer | null; erased: Buffer | null })[]>`
    select ${columns(sql)}, place.leaf, place.secret, ${erasedCommitment(sql)} as erased
    from records r ${joinNames(sql)} ${joinLog(sql, log)}
    where r.domain_number = ${numberOf(sql, domainId)} and r.id = ${recordId}
      and not exists (
        select from record_months where month = ${monthOf(timeOf(recordId))} and dropped_at is not null
      )`;
  if (!row) return undefined;
  const { leaf, secret, erased } = row;
  return {
    record: toRecord(row),
    sealed: leaf && secret ? { leaf, secret, erased, importedAt: importedAtOf(row) } : undefined,
  };
}
