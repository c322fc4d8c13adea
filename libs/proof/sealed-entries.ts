/** The parts of sealed entries. */

import type { Sql } from '#libs/base/db/database';
import { columns, type LoggedRecord, type Row, toLoggedRecord } from '#libs/record/fields';
import { joinReferences } from '#libs/record/references';
import { textId } from './log-texts.ts';
import type { LogName } from './runs.ts';

export interface SealedEntry {
  position: number;
  /** as stored, 32 bytes */
  leaf: Buffer;
  /** 16 bytes; zeros once the record has expired */
  secret: Buffer;
  /** for an erased record, the commitment `private`, 32 bytes */
  erased: Buffer | null;
  /** undefined if retention dropped the record, it is missing, or the entry has none */
  record: LoggedRecord | undefined;
  /** the record's id, 32 hex digits; zeros once it has expired; `textId` if the entry is not a record's */
  id: string;
  /** the text, if the entry is not a record's */
  text: string | null;
}

/** The entries of a log from position `from` to `below` (exclusive). */
export async function readSealed(
  sql: Sql,
  { domainNumber, log }: LogName,
  { from, below }: { from: number; below: number },
): Promise<SealedEntry[]> {
  const rows = await sql<(Row & Omit<SealedEntry, 'record' | 'id'> & { entryId: Buffer })[]>`
    with entries as materialized (
      select
        first + place as position, substr(leaves, place * 32 + 1, 32) as leaf,
        coalesce(substr(secrets, place * 16 + 1, 16), decode(repeat('00', 16), 'hex')) as secret,
        coalesce(substr(ids, place * 16 + 1, 16), decode(repeat('00', 16), 'hex')) as id
      from log_runs cross join generate_series(0, entries - 1) as place
      where domain_number = ${domainNumber} and log = ${log}
        and first > ${from - 256} and first < ${below} and first + place >= ${from} and first + place < ${below}
    )
    select entries.position, entries.leaf, entries.secret, commitments.private as erased, entries.id as "entryId",
      log_texts.text, ${columns(sql)}
    from entries
-- one lookup by key each: without statistics, as after an import, a join would read all of the domain's records
    left join lateral (
      select * from records where domain_number = ${domainNumber} and id = encode(entries.id, 'hex')::uuid offset 0
    ) as r on true
    left join erased_commitments as commitments
      on commitments.domain_number = ${domainNumber} and commitments.log = ${log} and commitments.position = entries.position
    ${joinReferences(sql)}
    left join log_texts on log_texts.domain_number = ${domainNumber} and log_texts.log = ${log}
      and log_texts.position = entries.position and entries.id = ${Buffer.from(textId, 'hex')}
    order by entries.position`;
  return rows.map(({ position, leaf, secret, erased, entryId, text, ...row }) => ({
    position,
    leaf,
    secret,
    erased,
    text,
    id: entryId.toString('hex'),
    record: row.id === null ? undefined : toLoggedRecord(row),
  }));
}
