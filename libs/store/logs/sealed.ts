/** Sealed records with their secrets: what their entries are made of. */
import { type OwnRecord, type OwnRow, ownColumns, toOwnRecord } from '../records/full-record.ts';
import { joinNames } from '../records/names.ts';
import type { Sql } from '../sql.ts';
import type { LogName } from './runs.ts';

export interface SealedRecord {
  position: number;
  /** as stored, 32 bytes */
  leaf: Buffer;
  /** 16 bytes; zeros once the record has expired */
  secret: Buffer;
  /** undefined where retention dropped the record, or it is missing */
  record: OwnRecord | undefined;
  /** of the record, 32 hex digits; zeros once it has expired */
  id: string;
}

/** The entries of a log from position `from` on, `below` not included. */
export async function readSealed(
  sql: Sql,
  { domainNumber, log }: LogName,
  { from, below }: { from: number; below: number },
): Promise<SealedRecord[]> {
  const rows = await sql<(OwnRow & Omit<SealedRecord, 'record' | 'id'> & { entryId: Buffer })[]>`
    with entries as materialized (
      select
        first + place as position, substr(leaves, place * 32 + 1, 32) as leaf,
        coalesce(substr(secrets, place * 16 + 1, 16), decode(repeat('00', 16), 'hex')) as secret,
        coalesce(substr(ids, place * 16 + 1, 16), decode(repeat('00', 16), 'hex')) as id
      from log_runs cross join generate_series(0, entries - 1) as place
      where domain_number = ${domainNumber} and log = ${log}
        and first > ${from - 256} and first < ${below} and first + place >= ${from} and first + place < ${below}
    )
    select entries.position, entries.leaf, entries.secret, entries.id as "entryId", ${ownColumns(sql)}
    from entries
    -- each by its key: without statistics, as after an import, a join would read all of the domain's records
    left join lateral (
      select * from records where domain_number = ${domainNumber} and id = encode(entries.id, 'hex')::uuid offset 0
    ) as r on true
    ${joinNames(sql)}
    order by entries.position`;
  return rows.map(({ position, leaf, secret, entryId, ...row }) => ({
    position,
    leaf,
    secret,
    id: entryId.toString('hex'),
    record: row.id === null ? undefined : toOwnRecord(row),
  }));
}
