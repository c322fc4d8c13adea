/** What an erasure did in each domain: how many records it changed, and where that is sealed. */
import type { Sql } from '#libs/base/db/database';
import { joinLog } from '#libs/proof/positions';
import type { ErasureDetails } from './contract.ts';

/** the most places in a response */
const most = 10_000;

interface Place {
  domainId: string;
  log: number;
  position: number;
  recordLog: number | null;
  recordPosition: number | null;
}

/** `records`: the erasure's total. It is used only if the erasure has no entries and was of a single domain. */
export async function listErasureResults(
  sql: Sql,
  { erasureId, records }: { erasureId: string; records: number },
): Promise<ErasureDetails['domains']> {
  const counted = await sql<{ domainId: string; records: number }[]>`
    with erased as materialized (
      select domain_number, count(*) as records from (
        select domain_number from erasure_entries where erasure = ${erasureId}
        union all
        select domain_number from erasures_to_seal where erasure = ${erasureId}
      ) as each group by 1
    )
    select domains.id as "domainId", erased.records::float8 as records
    from erased join domains on domains.number = domain_number
    union all
    select domains.id, ${records}
    from erasures join domains on domains.number = domain_number
    where erasures.id = ${erasureId} and not exists (select from erased)
    order by 1`;
  const places = await sql<Place[]>`
    select domains.id as "domainId", e.log, e.position::float8 as position,
      place.log as "recordLog", place.position::float8 as "recordPosition"
    from (
      select * from erasure_entries where erasure = ${erasureId} order by domain_number, log, position limit ${most}
    ) as e
    join domains on domains.number = e.domain_number
    join logs on logs.domain_number = e.domain_number and logs.log = e.log and e.position < checkpoint_size
    left join lateral (
      select * from records where domain_number = e.domain_number and id = e.record_id offset 0
    ) as r on true
    ${joinLog(sql)}
    order by e.domain_number, e.log, e.position`;
  const domains: ErasureDetails['domains'] = {};
  for (const { domainId, ...domain } of counted) domains[domainId] = { ...domain, positions: [], entries: [] };
  for (const { domainId, log, position, recordLog, recordPosition } of places) {
    const domain = domains[domainId];
    const erased = recordLog === null || recordPosition === null ? null : { log: recordLog, position: recordPosition };
    if (erased) domain?.positions.push(erased.position);
    domain?.entries.push({ log, position, erased });
  }
  for (const domain of Object.values(domains)) domain.positions.sort((one, other) => one - other);
  return domains;
}
