/** Administrative acts: who did what and when. Those about visitors are in a table of their own. */
import type { Sql } from '#libs/base/db/database';
import { addDays } from '#libs/base/terms/calendar';

interface ListedAct {
  /** of its own table */
  id: number;
  at: Date;
  /** the same in Unix microseconds, which order acts within a millisecond */
  micros: number;
  actor: string;
  act: string;
  /** for keys their prefix */
  subject: string;
  organizationId: string | null;
  details: Record<string, unknown>;
}

/** Where a page ends: the id of the last act shown from each table. */
export interface ActsPosition {
  administrative: number;
  visitor: number;
}

/** Acts about visitors, by kind. They are spelled out so that an index finds an erasure among millions of reads. */
const ofKind = { changes: ['visitor.erase', 'records.export'], reads: ['log.read', 'visitor.read', 'visitor.access'] };

const newest: ActsPosition = { administrative: Number.MAX_SAFE_INTEGER, visitor: Number.MAX_SAFE_INTEGER };

interface ActsPage {
  acts: ListedAct[];
  /** null at the end */
  next: ActsPosition | null;
}

export interface ActFilters {
  act?: string | undefined;
  kind?: 'changes' | 'reads' | undefined;
  actor?: string | undefined;
  /** days, inclusive */
  from?: string | undefined;
  to?: string | undefined;
}

interface ActsQuery extends ActFilters {
  organizationId?: string | undefined;
  /** only those about this visitor */
  hash?: Uint8Array | undefined;
  limit: number;
  after?: ActsPosition | undefined;
}

/** Newest first: all, or those of one organization. Each table is read in its own order, so that none is left out. */
export async function listActs(
  sql: Sql,
  { organizationId, hash, limit, after = newest, kind, ...filters }: ActsQuery,
): Promise<ActsPage> {
  const matching = matches(sql, filters);
  // one after the other, since `sql` is one connection
  const administrative = await sql<ListedAct[]>`
      select id::float8 as id, at, ${micros(sql)} as micros, actor, act, organization_id as "organizationId", details,
        case when act like 'key.%' then coalesce(details ->> 'prefix', subject) else subject end as subject
      from administrative_acts
      where id < ${after.administrative} and ${matching} and ${hash === undefined && kind !== 'reads'}
        ${organizationId === undefined ? sql`` : sql`and organization_id = ${organizationId}`}
      order by id desc limit ${limit + 1}`;
  const visitor = await sql<ListedAct[]>`
      select v.id::float8 as id, at, ${micros(sql)} as micros, actor, act, o.id as "organizationId",
        case when act = 'log.read' then coalesce(d.id, o.id) else coalesce(encode(hash, 'hex'), '') end as subject,
        case when act = 'log.read' then details else
          jsonb_strip_nulls(jsonb_build_object('domainId', d.id, 'erasureId', erasure_id)) || coalesce(details, '{}')
        end as details
      from visitor_acts v
      join organizations o on o.number = v.organization_number
      left join domains d on d.number = v.domain_number
      where v.id < ${after.visitor} and ${matching}
        ${kind === undefined ? sql`` : sql`and act in ${sql(ofKind[kind])}`}
        ${organizationId === undefined ? sql`` : sql`and o.id = ${organizationId}`}
        ${hash === undefined ? sql`` : sql`and hash = ${Buffer.from(hash)}`}
      order by v.id desc limit ${limit + 1}`;
  const acts: ListedAct[] = [];
  const next = { ...after };
  let [ofOrganization, ofVisitors] = [0, 0];
  while (acts.length < limit) {
    const [one, other] = [administrative[ofOrganization], visitor[ofVisitors]];
    if (!one && !other) break;
    if (one && (!other || one.micros >= other.micros)) {
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

const micros = (sql: Sql) => sql`(extract(epoch from at) * 1000000)::float8`;

const matches = (sql: Sql, { act, actor, from, to }: ActFilters) => sql`
  ${act === undefined ? sql`true` : sql`act = ${act}`}
  and ${actor === undefined ? sql`true` : sql`actor = ${actor}`}
  and ${from === undefined ? sql`true` : sql`at >= ${`${from}T00:00:00Z`}::timestamptz`}
  and ${to === undefined ? sql`true` : sql`at < ${`${addDays(to, 1)}T00:00:00Z`}::timestamptz`}`;

/** What caches need to know of an act, to forget what it changed. */
export interface NewAct {
  act: string;
  subject: string;
  organizationId: string | null;
  /** of a revoked token */
  jti: string | null;
  /** of a key: its domain */
  domainId: string | null;
}

interface NewActs {
  /** in the order of their ids */
  acts: NewAct[];
  /** of the newest act, 0 for none, and when it was */
  newest: number;
  newestAt: string | null;
  /** when act `last` was; null where there is none of that id */
  lastAt: string | null;
}

/** The administrative acts after `last`; if that is undefined, only which act is the newest. */
export async function readActsSince(sql: Sql, last: number | undefined): Promise<NewActs> {
  const rows = await sql<(NewAct & Omit<NewActs, 'acts'>)[]>`
    with newest as (select coalesce(max(id), 0) as newest from administrative_acts)
    select newest, (select at::text from administrative_acts where id = newest) as "newestAt",
      (select at::text from administrative_acts where id = ${last ?? -1}) as "lastAt",
      a.act, a.subject, a.organization_id as "organizationId", a.details ->> 'jti' as jti,
      a.details ->> 'domainId' as "domainId"
    from newest left join administrative_acts a on a.id > ${last ?? -1} and ${last !== undefined}
    order by a.id`;
  const { newest = 0, newestAt = null, lastAt = null } = rows[0] ?? {};
  return { acts: rows.filter(({ act }) => act !== null), newest, newestAt, lastAt };
}
