/** Erased visitors whom somebody noted as busy meanwhile, or whom persist counted as such in the same moment. */

import type { Database } from '#libs/base/db/database';
import { groupsOf } from '#libs/base/group-by';
import { forgetVisitor } from '#libs/log/busy-visitors';
import type { VisitorHash } from '#libs/tenants/visitor-hash';
import { erasedAmong } from './erased-records.ts';

/** visitors that are looked up in one statement */
const chunk = 1_000;

/** Busy visitors are few; of what counts them one row each is read. */
export async function deleteBusyErased(db: Database, hashOf: VisitorHash): Promise<void> {
  const busy = await db.run(
    (sql) => sql<{ domainNumber: number; visitorId: string; organizationId: string }[]>`
      with recursive counted as (
        (select domain_number, visitor_id from visitor_counters order by 1, 2 limit 1)
        union all
        select next.* from counted cross join lateral (
          select c.domain_number, c.visitor_id from visitor_counters c
          where (c.domain_number, c.visitor_id) > (counted.domain_number, counted.visitor_id) order by 1, 2 limit 1
        ) as next
      )
      select domain_number as "domainNumber", visitor_id as "visitorId", organization_id as "organizationId"
      from (select * from counted union select domain_number, visitor_id from busy_visitors) as busy
      join domains on number = domain_number`,
  );
  for (const some of groupsOf([...busy], chunk)) {
    for (const { domainNumber, visitorId } of await db.run((sql) => erasedAmong(sql, hashOf, some))) {
      await db.run((sql) => forgetVisitor(sql, visitorId, sql`${domainNumber}`));
    }
  }
}
