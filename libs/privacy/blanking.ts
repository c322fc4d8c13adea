/**
 * Blanks: records of a closed epoch whose visitor was erased before they came lose their personal fields, before anything
 * else is made of them. Only in a closed epoch no further record can come.
 */
import type { Database, Sql } from '#libs/base/db/database';
import { cachePerServer } from '#libs/base/db/per-server-cache';
import { groupBy } from '#libs/base/group-by';
import { type Derivation, deriveNext, type Progress } from '#libs/epochs/derivations';
import { createPieceSize } from '#libs/epochs/piece-size';
import { createIdLister, nextDomains, nil } from '#libs/epochs/slices';
import { createVisitorHash, type VisitorHash } from '#libs/tenants/visitors';
import { erasedAmong } from './erased-records.ts';
import { countBlanked, listRunning } from './erasures.ts';
import { blankLimit, blankRecords, lockLog, noteErased, type Personal, personalColumns } from './personal-fields.ts';
import { firstConcerned, listConcerned, searchAgain } from './tombstones.ts';

export const blankingName = 'blank';

/** records that are looked at in one transaction */
const usualPiece = 4_096;
/** Domains of which one transaction blanks records, some ten statements each. */
const domainsLimit = 50;

type Erased = Visit & { hash: string };

/** `hashOf`: undefined without PRIVACY_KEY. Then no record is derived of whose organization anybody was erased. */
export function createBlankDerivation(hashOf: VisitorHash | undefined, size = createPieceSize(usualPiece)): Derivation {
  // made anew for another server
  const nextIds = createIdLister(() => 0, size);
  /** of a domain with many records in the epoch, the last that was looked at */
  let done = { epoch: 0, domainNumber: 0, id: nil };

  return {
    name: blankingName,
    size,
    first: firstConcerned,
    async piece(sql, epoch, after) {
      const limit = size.records();
      const { domains, through } = await nextDomains(sql, epoch, after, limit);
      const last = domains.at(-1);
      if (!last) return undefined;
      const numbers = domains.map(({ domainNumber }) => domainNumber);
      const concerned = await listConcerned(sql, numbers);
      if (concerned.length === 0) return through;
      if (!hashOf) throw new Error('PRIVACY_KEY is not set, and visitors were erased with one');
      const organizations = new Map(concerned.map((each) => [each.domainNumber, each.organizationId]));
      const erasedOf = (visits: Visit[]): Promise<Erased[]> =>
        erasedAmong(
          sql,
          hashOf,
          visits.map((visit) => ({ ...visit, organizationId: organizations.get(visit.domainNumber) ?? '' })),
        );
      if (last.records <= limit) {
        const erased = await erasedOf(await listVisitsIn(sql, epoch, [...organizations.keys()]));
        // who was blanked names nobody any more, so what is left is found by doing all of the domain again
        const left = await blankSome(sql, erased);
        return left === undefined ? through : (numbers.filter((number) => number < left.domainNumber).at(-1) ?? after);
      }
      const { domainNumber } = last;
      if (done.epoch !== epoch || done.domainNumber !== domainNumber) done = { epoch, domainNumber, id: nil };
      const ids = await nextIds(sql, { epoch, domainNumber, after: done.id }, limit);
      if (ids.length === 0) {
        done = { epoch, domainNumber, id: nil };
        return domainNumber;
      }
      const left = await blankSome(sql, await erasedOf(await listVisits(sql, domainNumber, ids)));
      const end = left === undefined ? ids.length : offsetOf(ids, left.id);
      if (end > 0) done = { epoch, domainNumber, id: ids.subarray(end - 16, end).toString('hex') };
      return after;
    },
  };
}

/** Blanking, a round at a time. */
export function createBlanking({ db, privacyKey }: { db: Database; privacyKey: Buffer | undefined }) {
  const hashOf = privacyKey && createVisitorHash(privacyKey);
  const size = createPieceSize(usualPiece);
  // another server may lack pieces that were done
  const begin = () => cachePerServer(db.generation, () => createBlankDerivation(hashOf, size));
  let current = begin();

  const next = async (): Promise<Progress> => {
    try {
      return await deriveNext(db, current());
    } catch (error) {
      // what it remembers as done may have been rolled back
      current = begin();
      throw error;
    }
  };

  return async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && (await next()) === 'more');
  };
}

/** Bytes before this id, which is among them. */
function offsetOf(ids: Buffer, id: string): number {
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
  let at = 0;
  while (at < ids.length && ids.compare(bytes, 0, 16, at, at + 16) !== 0) at += 16;
  return at;
}

/** `erased`: by domain and id. Blanks as many as one transaction may, and returns the first that is left. */
async function blankSome(sql: Sql, erased: Erased[]): Promise<Erased | undefined> {
  if (erased.length === 0) return undefined;
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
  await noteErased(sql, noted);
  await countBlanked(
    sql,
    noted.flatMap(({ erasureId }) => erasureId ?? []),
  );
  await searchAgain(sql, hashes);
  return erased[some.length];
}

/** A record that names a visitor. */
interface Visit {
  domainNumber: number;
  id: string;
  visitorId: string;
}

/** Those of these domains in the epoch, by domain and id. */
const listVisitsIn = (sql: Sql, epoch: number, domainNumbers: number[]): Promise<Visit[]> => sql<Visit[]>`
  select domain_number as "domainNumber", id, visitor_id as "visitorId" from records
  where epoch = ${epoch} and domain_number = any(${domainNumbers}) and visitor_id is not null
  order by 1, 2`;

/** Those with these ids (16 bytes each), in order. */
const listVisits = (sql: Sql, domainNumber: number, ids: Uint8Array): Promise<Visit[]> => sql<Visit[]>`
  select domain_number as "domainNumber", id, visitor_id as "visitorId"
  from generate_series(1, ${ids.length}, 16) as at
  join records r on r.domain_number = ${domainNumber}
    and r.id = encode(substr(${Buffer.from(ids)}::bytea, at, 16), 'hex')::uuid
  where visitor_id is not null
  order by id`;

/** Locked until the transaction ends. */
const lockPersonal = (sql: Sql, domainNumber: number, ids: string[]) => sql<Personal[]>`
  select ${personalColumns(sql)}
  from records r left join user_agents on user_agents.number = r.user_agent_number
  where r.domain_number = ${domainNumber} and r.id = any(${ids}) and r.erased_at is null
  order by r.id for update of r`;
