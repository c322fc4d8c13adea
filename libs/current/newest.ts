/** The newest records of visitors, in one statement for all who ask at once. */
import { Batcher } from '#libs/base/batcher';
import type { Database, Sql } from '#libs/base/db/database';
import type { FullRecord } from '#libs/record/contract';

interface Visitor {
  organizationId: string;
  domainId: string;
  visitorId: string;
}

/** The terms of the domain, and the visitor's newest record; its fields are null if there is none. */
export interface Newest extends Pick<FullRecord, 'source' | 'preferences' | 'policyVersion' | 'model' | 'decision'> {
  id: string | null;
  validMonths: number | null;
  /** the policy under which permissions must be given */
  wantedPolicy: string | null;
  /** the visitor was erased lately: what came since will be blanked */
  isErased: boolean;
}

/** Which of these visitors, by their places, were erased lately. */
export type FindErasedVisitors = (
  sql: Sql,
  visitors: (Pick<Visitor, 'organizationId' | 'visitorId'> & { domainNumber: number })[],
) => Promise<boolean[]>;

interface Row extends Omit<Newest, 'isErased'> {
  place: number;
  domainNumber: number;
}

const keyOf = ({ domainId, visitorId }: Pick<Visitor, 'domainId' | 'visitorId'>): string => `${domainId} ${visitorId}`;

/** Of these visitors, by `keyOf`. */
async function findNewest(sql: Sql, visitors: Visitor[], findErased: FindErasedVisitors): Promise<Map<string, Newest>> {
  const wanted = [...new Map(visitors.map((visitor) => [keyOf(visitor), visitor])).values()];
  const rows = await sql<Row[]>`
    select place, domain_number as "domainNumber", valid_months as "validMonths", wanted_policy as "wantedPolicy", id,
      decision, source, preferences, policy_version as "policyVersion", model
    from current_records(
      ${wanted.map(({ domainId }) => domainId)}::text[], ${wanted.map(({ visitorId }) => visitorId)}::text[]
    )`;
  const found = rows.flatMap(({ place, ...row }) => {
    const visitor = wanted[place - 1];
    return visitor ? [{ ...row, ...visitor }] : [];
  });
  const erased = await findErased(sql, found);
  return new Map(found.map((each, at) => [keyOf(each), { ...each, isErased: erased[at] ?? false }]));
}

/** ids in one statement, statements at once, and ids that may wait */
const sizes = { maxBatch: 400, concurrency: 2, maxPending: 50_000 };
/** milliseconds */
const patience = 2_000;

export interface NewestReader {
  /** In the order of the ids, which may repeat. Rejects while the primary does not answer. */
  read(organizationId: string, domainId: string, visitorIds: string[]): Promise<(Newest | undefined)[]>;
}

export function createNewestReader(db: Database, findErased: FindErasedVisitors): NewestReader {
  const batcher = new Batcher<Visitor[], Map<string, Newest>>({
    run: (asked) => db.read((sql) => findNewest(sql, asked.flat(), findErased)),
    weigh: (visitors) => visitors.length,
    patience,
    ...sizes,
  });
  return {
    read: async (organizationId, domainId, visitorIds) => {
      const visitors = visitorIds.map((visitorId) => ({ organizationId, domainId, visitorId }));
      const found = await batcher.add(visitors);
      return visitors.map((visitor) => found.get(keyOf(visitor)));
    },
  };
}
