/** Administrative acts: who did what and when. Those about visitors are in a table of their own. */
import type { Sql } from '#libs/base/db/database';

interface ListedAct {
  /** of its own table */
  id: number;
  at: Date;
  actor: string;
  act: string;
  /** for keys their prefix */
  subject: string;
  organizationId: string | null;
  details: Record<string, unknown>;
}

/** Where a page ends: of each table, the id of its last one so far. */
export interface ActsPosition {
  administrative: number;
  visitor: number;
}

const newest: ActsPosition = { administrative: Number.MAX_SAFE_INTEGER, visitor: Number.MAX_SAFE_INTEGER };

interface ActsPage {
  acts: ListedAct[];
  /** null at the end */
  next: ActsPosition | null;
}

/** Newest first: all, or those of one organization. Each table is read in its own order, so that none is left out. */
export async function listActs(
  sql: Sql,
  {
    organizationId,
    limit,
    after = newest,
  }: { organizationId?: string; limit: number; after?: ActsPosition | undefined },
): Promise<ActsPage> {
  const [administrative, visitor] = await Promise.all([
    sql<ListedAct[]>`
      select id::float8 as id, at, actor, act, organization_id as "organizationId", details,
        case when act like 'key.%' then coalesce(details ->> 'prefix', subject) else subject end as subject
      from administrative_acts
      where id < ${after.administrative}
        ${organizationId === undefined ? sql`` : sql`and organization_id = ${organizationId}`}
      order by id desc limit ${limit + 1}`,
    sql<ListedAct[]>`
      select v.id::float8 as id, at, actor, act, coalesce(encode(hash, 'hex'), '') as subject,
        o.id as "organizationId",
        jsonb_strip_nulls(jsonb_build_object('domainId', d.id, 'erasureId', erasure_id)) || coalesce(details, '{}') as details
      from visitor_acts v
      join organizations o on o.number = v.organization_number
      left join domains d on d.number = v.domain_number
      where v.id < ${after.visitor} ${organizationId === undefined ? sql`` : sql`and o.id = ${organizationId}`}
      order by v.id desc limit ${limit + 1}`,
  ]);
  const acts: ListedAct[] = [];
  const next = { ...after };
  let [ofOrganization, ofVisitors] = [0, 0];
  while (acts.length < limit) {
    const [one, other] = [administrative[ofOrganization], visitor[ofVisitors]];
    if (!one && !other) break;
    if (one && (!other || one.at >= other.at)) {
      acts.push(one);
      next.administrative = one.id;
      ofOrganization += 1;
    } else if (other) {
      acts.push(other);
      next.visitor = other.id;
      ofVisitors += 1;
    }
  }
  const isEnd = ofOrganization === administrative.length && ofVisitors === visitor.length;
  return { acts, next: isEnd ? null : next };
}
