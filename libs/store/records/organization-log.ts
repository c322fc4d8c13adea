/** The newest records of all domains of an organization, with their total from the counters. */
import type { Sql } from '../sql.ts';
import { columns, type LogPage, type Row, toPage } from './full-record.ts';

export interface OrganizationLogQuery {
  organizationId: string;
  /** first and last UTC day, inclusive */
  from: string;
  to: string;
  limit: number;
  /** the record after which to continue; several domains may have one with the same id */
  after?: { id: string; domainId: string } | undefined;
}

export async function readOrganizationPage(sql: Sql, query: OrganizationLogQuery): Promise<LogPage> {
  const { organizationId, from, to, limit, after } = query;
  const rows = await sql<Row[]>`
    with newest as materialized (
      select * from records
      where organization_id = ${organizationId}
        and id >= id_at(${from}::timestamp at time zone 'UTC')
        and id < id_at((${to}::timestamp + interval '1 day') at time zone 'UTC')
        ${after ? sql`and (id, domain_id) < (${after.id}, ${after.domainId})` : sql``}
      order by id desc, domain_id desc limit ${limit + 1}
    )
    select counted.total, ${columns(sql)}
    from (
      select coalesce(sum(accept_all + reject_all + custom + withdraw), 0)::bigint as total from counters
      where organization_id = ${organizationId} and domain_id = '' and length(period) = 10
        and period between ${from} and ${to}
    ) as counted
    left join newest r on true
    order by r.id desc, r.domain_id desc`;
  return toPage(rows, limit);
}
