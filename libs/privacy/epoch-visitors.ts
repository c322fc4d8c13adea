/** The visitors of an epoch's records: whoever of them was erased meanwhile is blanked here. */
import type { Sql } from '#libs/base/db/database';
import { type Personal, personalColumns } from './personal-fields.ts';

/** A record that names a visitor. */
export interface Visit {
  domainNumber: number;
  id: string;
  visitorId: string;
}

/** Those of these domains in the epoch, by domain and id. */
export const listVisitsIn = (sql: Sql, epoch: number, domainNumbers: number[]): Promise<Visit[]> => sql<Visit[]>`
  select domain_number as "domainNumber", id, visitor_id as "visitorId" from records
  where epoch = ${epoch} and domain_number = any(${domainNumbers}) and visitor_id is not null
  order by 1, 2`;

/** Those with these ids (16 bytes each), in order. */
export const listVisits = (sql: Sql, domainNumber: number, ids: Uint8Array): Promise<Visit[]> => sql<Visit[]>`
  select domain_number as "domainNumber", id, visitor_id as "visitorId"
  from generate_series(1, ${ids.length}, 16) as at
  join records r on r.domain_number = ${domainNumber}
    and r.id = encode(substr(${Buffer.from(ids)}::bytea, at, 16), 'hex')::uuid
  where visitor_id is not null
  order by id`;

/** Locked until the transaction ends. */
export const lockPersonal = (sql: Sql, domainNumber: number, ids: string[]) => sql<Personal[]>`
  select ${personalColumns(sql)}
  from records r left join user_agents on user_agents.number = r.user_agent_number
  where r.domain_number = ${domainNumber} and r.id = any(${ids}) and r.erased_at is null
  order by r.id for update of r`;
