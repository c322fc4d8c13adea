/** Which records and visitors were erased. Until a tombstone ends, later records of its visitor are blanked. */
import type { Database, Sql } from '#libs/base/db/database';
import type { NewRecord } from '#libs/record/contract';
import { allDomains, createVisitorHash, type VisitorHash } from '#libs/tenants/visitors';
import { type ConcernedDomain, findErased, listConcerned } from './tombstones.ts';

/** Which of these visits are of erased visitors, with the visitor's hash (hex). One statement for all. */
export async function erasedAmong<VisitorRecord extends ConcernedDomain & { visitorId: string }>(
  sql: Sql,
  hashOf: VisitorHash,
  visits: VisitorRecord[],
): Promise<(VisitorRecord & { hash: string })[]> {
  const hashes = new Map<string, string>();
  const hashed = visits.map((visit) => {
    const key = `${visit.organizationId}\0${visit.visitorId}`;
    const hash = hashes.get(key) ?? hashOf(visit.organizationId, visit.visitorId).toString('hex');
    hashes.set(key, hash);
    return { ...visit, hash };
  });
  const erased = await findErased(sql, [...new Set(hashes.values())]);
  return hashed.filter(({ hash, domainNumber }) => {
    const domains = erased.get(hash);
    return domains !== undefined && (domains.has(allDomains) || domains.has(domainNumber));
  });
}

type Named = Pick<NewRecord, 'domainId' | 'visitorId'>;

/** Returns which records are of erased visitors. It remembers domains, so it is valid for one round. */
export function createErasedLookup(db: Database, hashOf: VisitorHash) {
  const domains = new Map<string, ConcernedDomain | undefined>();

  const learn = async (domainIds: string[]) => {
    if (domainIds.length === 0) return;
    const rows = await db.read(
      (sql) => sql<{ id: string; number: number }[]>`
        select id, number from domains where id = any(${domainIds})`,
    );
    const numbers = rows.map(({ number }) => number);
    const concerned = new Map(
      (await db.read((sql) => listConcerned(sql, numbers))).map((each) => [each.domainNumber, each]),
    );
    const byId = new Map(rows.map(({ id, number }) => [id, concerned.get(number)]));
    for (const id of domainIds) domains.set(id, byId.get(id));
  };

  return async <Record extends Named>(records: Record[]): Promise<Set<Record>> => {
    await learn([...new Set(records.map(({ domainId }) => domainId))].filter((id) => !domains.has(id)));
    const visits = records.flatMap((record) => {
      const domain = domains.get(record.domainId);
      return domain && record.visitorId !== undefined ? [{ ...domain, visitorId: record.visitorId, record }] : [];
    });
    if (visits.length === 0) return new Set();
    const erased = await db.read((sql) => erasedAmong(sql, hashOf, visits));
    return new Set(erased.map(({ record }) => record));
  };
}

interface Visitor extends ConcernedDomain {
  visitorId: string;
}

/** Returns for each visitor whether they were erased; without PRIVACY_KEY nobody was. */
export function createFindErasedVisitors(privacyKey: Buffer | undefined) {
  const hashOf = privacyKey && createVisitorHash(privacyKey);
  return async (sql: Sql, visitors: Visitor[]): Promise<boolean[]> => {
    if (!hashOf) return visitors.map(() => false);
    const erased = await erasedAmong(
      sql,
      hashOf,
      visitors.map((visitor, at) => ({ ...visitor, at })),
    );
    const places = new Set(erased.map(({ at }) => at));
    return visitors.map((_, at) => places.has(at));
  };
}
