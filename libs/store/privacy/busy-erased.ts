/** Erased visitors whom somebody noted as busy meanwhile, or whom persist counted as such in the same moment. */
import type { Sql } from '../sql.ts';
import type { ErasedDomain } from './tombstones.ts';
import type { VisitorHash } from './visitor-hash.ts';

/** Busy visitors are few. */
export async function deleteBusyErased(sql: Sql, domains: ErasedDomain[], hashOf: VisitorHash): Promise<void> {
  const byNumber = new Map(domains.map((domain) => [domain.domainNumber, domain]));
  const numbers = [...byNumber.keys()];
  const busy = await sql<{ domainNumber: number; visitorId: string }[]>`
    select domain_number as "domainNumber", visitor_id as "visitorId" from busy_visitors
    where domain_number = any(${numbers})
    union
    select domain_number, visitor_id from visitor_counters where domain_number = any(${numbers})`;
  for (const { domainNumber, visitorId } of busy) {
    const domain = byNumber.get(domainNumber);
    if (!domain?.hashes.has(hashOf(domain.organizationId, visitorId).toString('hex'))) continue;
    for (const table of ['visitor_counters', 'busy_visitors'] as const) {
      await sql`delete from ${sql(table)} where domain_number = ${domainNumber} and visitor_id = ${visitorId}`;
    }
  }
}
