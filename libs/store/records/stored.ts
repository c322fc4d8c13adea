/** Which of these records are stored already, by domain and id. */
import type { NewRecord } from '#libs/contract/record';
import type { Sql } from '../sql.ts';

export async function findStored(sql: Sql, records: Pick<NewRecord, 'domainId' | 'id'>[]): Promise<Set<string>> {
  const wanted = JSON.stringify(records.map(({ domainId, id }) => ({ domainId, id })));
  // one lookup by primary key per record: otherwise the planner scans whole months
  const rows = await sql<{ id: string }[]>`
    select found.id
    from json_to_recordset(${wanted}::text::json) as wanted ("domainId" text, "id" uuid)
    cross join lateral (
      select r.id from records r where r.domain_id = wanted."domainId" and r.id = wanted.id limit 1
    ) as found`;
  return new Set(rows.map((row) => row.id));
}
