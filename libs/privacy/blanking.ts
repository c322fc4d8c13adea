/**
 * Blanking: removes the personal fields of records that came after their visitor's erasure, before anything is derived from
 * them. It waits until the epoch is closed, because only then can no more records arrive in it.
 */
import type { Database, Sql } from '#libs/base/db/database';
import { groupBy } from '#libs/base/group-by';
import { type Derivation, deriveAll } from '#libs/epochs/derivations';
import { createPieceSize } from '#libs/epochs/piece-size';
import { createIdLister, nil, type RecordRange, recordsIn } from '#libs/epochs/slices';
import { createVisitorHash, type VisitorHash } from '#libs/tenants/visitors';
import { erasedAmong } from './erased-lookup.ts';
import { countBlanked, listRunning } from './erasures.ts';
import { blankLimit, blankRecords, lockLog, type Personal, personalColumns, queueErasures } from './personal-fields.ts';
import { firstConcerned, listConcerned, searchAgain } from './tombstones.ts';

export const blankingName = 'blank';

/** records that are looked at in one transaction */
const usualPiece = 32_768;
/** Most domains per transaction: each takes about ten statements. */
const domainsLimit = 50;

type Erased = Visit & { hash: string };

/**
 * `hashOf`: undefined without PRIVACY_KEY. `derive` then throws as soon as a slice has a domain with an erased visitor.
 * `generation`: returns another number once the database may be another server, with other records.
 */
export const createBlankDerivation = (
  hashOf: VisitorHash | undefined,
  generation = () => 0,
  size = createPieceSize(usualPiece),
): Derivation => ({
  name: blankingName,
  size,
  nextIds: createIdLister(generation, size),
  first: firstConcerned,
  async derive(sql, slice) {
    const concerned = await listConcerned(sql, slice.domainNumbers ?? []);
    if (concerned.length === 0) return slice.endIfSkipped;
    if (!hashOf) throw new Error('PRIVACY_KEY is not set, and visitors were erased with one');
    const organizations = new Map(concerned.map((each) => [each.domainNumber, each.organizationId]));
    const visits = await listVisits(sql, { ...slice, domainNumbers: [...organizations.keys()] });
    const named = visits.map((visit) => ({ ...visit, organizationId: organizations.get(visit.domainNumber) ?? '' }));
    const { last, left } = await blankSome(sql, await erasedAmong(sql, hashOf, named));
    if (!left) return undefined;
    const id = last?.domainNumber === left.domainNumber ? last.id : nil;
    return { epoch: slice.first - 1, domainNumber: left.domainNumber - 1, id };
  },
});

/** Blanking, a round at a time. */
export function createBlanking({ db, privacyKey }: { db: Database; privacyKey: Buffer | undefined }) {
  const derivation = createBlankDerivation(privacyKey && createVisitorHash(privacyKey), db.generation);
  return (signal: AbortSignal) => deriveAll(db, derivation, signal);
}

/**
 * Blanks as many of `erased` (sorted by domain and id) as one transaction may. Returns the last of these, and `left`: the
 * first that remains.
 */
async function blankSome(
  sql: Sql,
  erased: Erased[],
): Promise<{ last?: Erased | undefined; left?: Erased | undefined }> {
  if (erased.length === 0) return {};
  const byDomain = groupBy(erased, ({ domainNumber }) => domainNumber);
  const beyond = [...byDomain.keys()][domainsLimit];
  const some = erased.filter(({ domainNumber }) => beyond === undefined || domainNumber < beyond).slice(0, blankLimit);
  const blanked: (Personal & { domainNumber: number })[] = [];
  const ofDomains = groupBy(some, (visit) => visit.domainNumber);
  for (const domainNumber of ofDomains.keys()) await lockLog(sql, domainNumber);
  for (const [domainNumber, visits] of ofDomains) {
    const records = await lockPersonal(
      sql,
      domainNumber,
      visits.map(({ id }) => id),
    );
    await blankRecords(sql, domainNumber, records);
    blanked.push(...records.map((record) => ({ ...record, domainNumber })));
  }
  const hashes = [...new Set(some.map(({ hash }) => hash))];
  // two domains may each have a record of one id
  const placeOf = ({ domainNumber, id }: { domainNumber: number; id: string }) => `${domainNumber} ${id}`;
  const running = new Map((await listRunning(sql, some)).map((each) => [placeOf(each), each.erasureId]));
  const noted = blanked.map((record) => ({ ...record, erasureId: running.get(placeOf(record)) ?? null }));
  await queueErasures(sql, noted);
  await countBlanked(
    sql,
    noted.flatMap(({ erasureId }) => erasureId ?? []),
  );
  await searchAgain(sql, hashes);
  return { last: some.at(-1), left: erased[some.length] };
}

/** A record that names a visitor. */
interface Visit {
  domainNumber: number;
  id: string;
  visitorId: string;
}

/** Sorted by domain and id. */
const listVisits = (sql: Sql, records: RecordRange): Promise<Visit[]> => sql<Visit[]>`
  select domain_number as "domainNumber", id, visitor_id as "visitorId"
  from ${recordsIn(sql, records)} as r
  where visitor_id is not null
  order by 1, 2`;

/** Locked until the transaction ends. */
const lockPersonal = (sql: Sql, domainNumber: number, ids: string[]) => sql<Personal[]>`
  select ${personalColumns(sql)}
  from records r left join user_agents on user_agents.number = r.user_agent_number
  where r.domain_number = ${domainNumber} and r.id = any(${ids}) and r.erased_at is null
  order by r.id for update of r`;
