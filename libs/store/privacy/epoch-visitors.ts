/** The visitors of an epoch's records: whoever of them was erased meanwhile is blanked here. */
import type { Sql } from '../sql.ts';
import { type Personal, personalColumns } from './blank.ts';

/** The first of these domains after `after` that has records in the epoch. */
export async function nextDomainOf(
  sql: Sql,
  { epoch, after, domainNumbers }: { epoch: number; after: number; domainNumbers: number[] },
): Promise<number | undefined> {
  const [row] = await sql<{ domainNumber: number | null }[]>`
    select min(domain_number) as "domainNumber" from records
    where epoch = ${epoch} and domain_number > ${after} and domain_number = any(${domainNumbers})`;
  return row?.domainNumber ?? undefined;
}

/** Of the records with these ids (16 bytes each) those that name a visitor. */
export const listVisitors = (sql: Sql, domainNumber: number, ids: Uint8Array) => sql<
  { id: string; visitorId: string }[]
>`
  select id, visitor_id as "visitorId"
  from generate_series(1, ${ids.length}, 16) as at
  join records r on r.domain_number = ${domainNumber}
    and r.id = encode(substr(${Buffer.from(ids)}::bytea, at, 16), 'hex')::uuid
  where visitor_id is not null`;

/** Locked until the transaction ends. */
export const lockPersonal = (sql: Sql, domainNumber: number, ids: string[]) => sql<Personal[]>`
  select ${personalColumns(sql)}
  from records r left join user_agents on user_agents.number = r.user_agent_number
  where r.domain_number = ${domainNumber} and r.id = any(${ids}) and r.erased_at is null
  order by r.id for update of r`;
