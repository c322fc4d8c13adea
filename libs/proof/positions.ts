/** Records with their positions in logs, and the parts of their entries. */

import type { Sql } from '#libs/base/db/database';
import { monthOf, timeOf } from '#libs/base/terms/calendar';
import { Problem } from '#libs/base/terms/problem';
import type { FullRecord } from '#libs/record/contract';
import * as record from '#libs/record/fields';
import { domainNumberOf, joinReferences } from '#libs/record/references';

/**
 * The only run that can hold `r`: the first one whose last record does not come before it, since runs are in order of epoch
 * and id. `place_among` decides whether `r` is in it. `only`: search this log only.
 */
export const runOf = (sql: Sql, only?: number) => sql`
  select log, first, ids, secrets, leaves from log_runs
  where domain_number = r.domain_number and (last_epoch, last_id) >= (r.epoch, r.id)
    ${only === undefined ? sql`` : sql`and log = ${only}`}
  order by last_epoch, last_id, log, first limit 1`;

/**
 * The log and position of `records r` as `place`, once a checkpoint covers it, with the parts of its entry. `only`: search
 * this log only.
 */
export const joinLog = (sql: Sql, only?: number) => sql`
  left join lateral (
    select run.log, run.first + among as position, substr(run.secrets, among * 16 + 1, 16) as secret,
      substr(run.leaves, among * 32 + 1, 32) as leaf
    from (${runOf(sql, only)}) as run
    join logs on logs.domain_number = r.domain_number and logs.log = run.log
    cross join place_among(run.ids, r.id) as among
    where run.first + among < checkpoint_size
  ) as place on true`;

/**
 * Beware: a query that also selects a total still returns one row if the page is empty. All of these columns are then null,
 * although the type does not say so.
 */
export type Row = record.Row & Pick<FullRecord, 'log' | 'position'>;

/** The columns of `records r`, joined by `joinReferences` (record/references.ts) and `joinLog`. */
export const columns = (sql: Sql) => sql`${record.columns(sql)}, place.log, place.position`;

export const toRecord = (row: Row): FullRecord => ({ ...record.toShown(row), log: row.log, position: row.position });

export interface FoundRecord {
  record: FullRecord;
  /**
   * the parts of its entry, once a checkpoint covers it: leaf (32 bytes) and secret (16); for an erased record also the 32
   * bytes of `private`
   */
  sealed: { leaf: Buffer; secret: Buffer; erased: Buffer | null; importedAt: string | null } | undefined;
}

export type FoundRow = Row & { leaf: Buffer | null; secret: Buffer | null; erased: Buffer | null };

/** The same with the parts of entries; for an erased record, the commitment `private`. */
export const foundColumns = (sql: Sql) => sql`
  ${columns(sql)}, place.leaf, place.secret,
  (
    select private from erased_commitments e
    where e.domain_number = r.domain_number and e.log = place.log and e.position = place.position
  ) as erased`;

export const toFound = ({ leaf, secret, erased, ...row }: FoundRow): FoundRecord => ({
  record: toRecord(row),
  sealed: leaf && secret ? { leaf, secret, erased, importedAt: record.importedAtOf(row) } : undefined,
});

export interface WantedRecord {
  domainId: string;
  recordId: string;
  /** search for its position in this log only */
  log?: number | undefined;
}

/** Also undefined after retention has dropped its month. */
async function findRecord(sql: Sql, { domainId, recordId, log }: WantedRecord): Promise<FoundRecord | undefined> {
  const [row] = await sql<FoundRow[]>`
    select ${foundColumns(sql)}
    from records r ${joinReferences(sql)} ${joinLog(sql, log)}
    where r.domain_number = ${domainNumberOf(sql, domainId)} and r.id = ${recordId}
      and not exists (
        select from record_months where month = ${monthOf(timeOf(recordId))} and dropped_at is not null
      )`;
  return row && toFound(row);
}

/** With a log number, a record that is sealed in another log counts as missing; an unsealed one does not. */
export async function requireRecord(sql: Sql, wanted: WantedRecord): Promise<FoundRecord> {
  const found = await findRecord(sql, wanted);
  if (!found) throw new Problem('record_not_found', 'this domain has no such record');
  if (found.record.log !== null || wanted.log === undefined) return found;
  const elsewhere = await findRecord(sql, { ...wanted, log: undefined });
  if (elsewhere?.record.log) throw new Problem('record_not_found', `the record is in log ${elsewhere.record.log}`);
  return found;
}
