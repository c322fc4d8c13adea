/** The newest records of visitors. Lookups that arrive together share a statement. */
import { Batcher } from '#libs/base/batcher';
import type { Database, Sql } from '#libs/base/db/database';
import type { FullRecord } from '#libs/record/contract';

interface Visitor {
  organizationId: string;
  domainId: string;
  visitorId: string;
}

/** A visitor's newest record, and what the domain requires of it now. */
export interface Newest
  extends Pick<FullRecord, 'id' | 'source' | 'preferences' | 'policyVersion' | 'model' | 'decision'> {
  validMonths: number | null;
  requiredPolicy: string | null;
}

interface Row extends Omit<Newest, 'id'> {
  /** of the visitor in the list, from 1 */
  place: number;
  domainNumber: number;
  id: string | null;
}

/** Says of each of these visitors whether it was erased within the last 32 days. */
export type FindErasedVisitors = (
  sql: Sql,
  visitors: (Pick<Visitor, 'organizationId' | 'visitorId'> & { domainNumber: number })[],
) => Promise<boolean[]>;

/** In the order of the visitors; undefined for those who have no record or were erased. */
async function findNewest(
  sql: Sql,
  visitors: Visitor[],
  findErased: FindErasedVisitors,
): Promise<(Newest | undefined)[]> {
  const rows = await sql<Row[]>`
    select place, domain_number as "domainNumber", id, decision, source, preferences, policy_version as "policyVersion",
      model, valid_months as "validMonths", wanted_policy as "requiredPolicy"
    from current_records(
      ${visitors.map(({ domainId }) => domainId)}::text[], ${visitors.map(({ visitorId }) => visitorId)}::text[]
    )`;
  const found = rows.flatMap(({ place, domainNumber, id, ...fields }) => {
    const visitor = visitors[place - 1];
    return visitor && id !== null ? [{ ...visitor, place, domainNumber, newest: { id, ...fields } }] : [];
  });
  const erased = await findErased(sql, found);
  const kept = found.filter((_, at) => !erased[at]);
  const newest = new Map(kept.map((each) => [each.place, each.newest]));
  return visitors.map((_, at) => newest.get(at + 1));
}

/** ids in one statement, statements at once, and ids that may wait */
const sizes = { maxBatch: 400, concurrency: 2, maxPending: 50_000 };
/** milliseconds */
const patience = 2_000;

export interface NewestReader {
  /** In the order of the ids, which may repeat. Rejects if the primary does not respond. */
  read(organizationId: string, domainId: string, visitorIds: string[]): Promise<(Newest | undefined)[]>;
}

export function createNewestReader(db: Database, findErased: FindErasedVisitors): NewestReader {
  const batcher = new Batcher<Visitor[], Map<Visitor[], (Newest | undefined)[]>>({
    run: async (requests) => {
      const newest = await db.read((sql) => findNewest(sql, requests.flat(), findErased));
      return new Map(requests.map((visitors) => [visitors, newest.splice(0, visitors.length)]));
    },
    weigh: (visitors) => visitors.length,
    patience,
    ...sizes,
  });
  return {
    read: async (organizationId, domainId, visitorIds) => {
      const visitors = visitorIds.map((visitorId) => ({ organizationId, domainId, visitorId }));
      return (await batcher.add(visitors)).get(visitors) ?? [];
    },
  };
}
