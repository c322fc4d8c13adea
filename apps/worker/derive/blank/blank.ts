/**
 * Blanks: records of a closed epoch whose visitor was erased before they came lose their personal fields, before anything
 * else is made of them. Only in a closed epoch no further record can come.
 */
import type { Derivation } from '#libs/store/epochs/derivations';
import { listIds } from '#libs/store/logs/unsealed';
import { blank, blankLimit, lockLog, noteErased } from '#libs/store/privacy/blank';
import { listVisitors, lockPersonal, nextDomainOf } from '#libs/store/privacy/epoch-visitors';
import { countBlanked } from '#libs/store/privacy/erasures';
import { type ErasedDomain, firstConcerned, listErasedDomains, searchAgain } from '#libs/store/privacy/tombstones';
import type { VisitorHash } from '#libs/store/privacy/visitor-hash';
import type { Sql } from '#libs/store/sql';

export const blanking = 'blank';

/** records that are looked at in one transaction */
const pieceLimit = 4_096;
/** Ids of one domain and epoch that are kept at once, 16 bytes each. */
const idsLimit = 1_000_000;
const nil = '00000000-0000-0000-0000-000000000000';

/** `hashOf`: undefined without PRIVACY_KEY. Then nothing is derived as long as anybody was erased. */
export function createBlank(hashOf: VisitorHash | undefined): Derivation {
  /** of a domain with many records in the epoch, what is left to look at */
  let rest: { epoch: number; domainNumber: number; ids: Buffer; last: string } | undefined;

  const idsOf = async (sql: Sql, epoch: number, domainNumber: number) => {
    const isKnown = rest?.epoch === epoch && rest.domainNumber === domainNumber;
    if (isKnown && rest && rest.ids.length > 0) return rest;
    const after = isKnown && rest ? rest.last : nil;
    const ids = await listIds(sql, { epoch, domainNumber, after, limit: idsLimit });
    return { epoch, domainNumber, ids, last: ids.subarray(-16).toString('hex') || nil };
  };

  return {
    name: blanking,
    first: firstConcerned,
    async piece(sql, epoch, after) {
      const domains = await listErasedDomains(sql);
      const domainNumbers = domains.map(({ domainNumber }) => domainNumber);
      const domainNumber = await nextDomainOf(sql, { epoch, after, domainNumbers });
      const domain = domains.find((each) => each.domainNumber === domainNumber);
      if (!domain) return undefined;
      if (!hashOf) throw new Error('PRIVACY_KEY is not set, and visitors were erased with one');
      const left = await idsOf(sql, epoch, domain.domainNumber);
      if (left.ids.length === 0) {
        rest = undefined;
        return domain.domainNumber;
      }
      const done = await blankErased(sql, hashOf, domain, left.ids.subarray(0, pieceLimit * 16));
      rest = { ...left, ids: left.ids.subarray(done) };
      return after;
    },
  };
}

/** Returns how many bytes of `ids` are done with: those up to as many erased ones as one transaction may blank. */
async function blankErased(sql: Sql, hashOf: VisitorHash, domain: ErasedDomain, ids: Buffer): Promise<number> {
  const { domainNumber, organizationId, hashes } = domain;
  const visitors = await listVisitors(sql, domainNumber, ids);
  const hashIn = ({ visitorId }: { visitorId: string }) => hashOf(organizationId, visitorId).toString('hex');
  const isErased = (visitor: { visitorId: string }) => hashes.has(hashIn(visitor));
  const erased = visitors.filter(isErased).map(({ id }) => id);
  if (erased.length === 0) return ids.length;
  const some = erased.sort().slice(0, blankLimit);
  await lockLog(sql, domainNumber);
  const records = await lockPersonal(sql, domainNumber, some);
  await blank(sql, domainNumber, records);
  await noteErased(sql, domainNumber, records);
  const hashOfId = new Map(visitors.map((visitor) => [visitor.id, hashIn(visitor)]));
  await countBlanked(
    sql,
    records.flatMap(({ id }) => hashOfId.get(id) ?? []),
  );
  await searchAgain(sql, [...new Set(visitors.filter(isErased).map(hashIn))]);
  if (some.length === erased.length) return ids.length;
  const last = Buffer.from((some.at(-1) ?? '').replaceAll('-', ''), 'hex');
  let done = 0;
  while (done < ids.length && ids.compare(last, 0, 16, done, done + 16) <= 0) done += 16;
  return done;
}
