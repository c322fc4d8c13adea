/**
 * Seals: gives the records of closed epochs their positions in their domains' logs. In a domain they are ordered by epoch,
 * then id; notices come before them, erasures after them. A position once given stays.
 */

import type { Database, Sql } from '#libs/base/db/database';
import { groupBy } from '#libs/base/group-by';
import type { RedisConnection } from '#libs/base/redis/connection';
import { findSeenNotices } from '#libs/notices/documents';
import { createPieceSize, type Derivation, type PieceSize, type Progress, withMark } from '#libs/record/derivations';
import { createIdLister, nextDomains, nextEpochOf, nil } from '#libs/record/epoch-records';
import { findUserAgents } from '#libs/record/joined-names';
import { type Head, lockHeads, saveHeads, sealing } from '../heads.ts';
import type { ProofMetrics } from '../metrics.ts';
import { addedTexts, joined } from './added.ts';
import { extend } from './grow.ts';
import { growable, growableAtEnd } from './halt.ts';
import { toAdded } from './leaves.ts';
import { createLackingNotices, noticeTexts } from './notices.ts';
import { readById, readEpoch, type Unsealed } from './unsealed.ts';

interface SealParts {
  redis: RedisConnection;
  db: Database;
  metrics: ProofMetrics;
  originOf(domainId: string): string;
  /** the derivation that has to be done with an epoch before it is sealed */
  after: string;
  /** of a transaction */
  size?: PieceSize;
}

/** records in one transaction */
const usualPiece = 4_096;

interface Seal extends Derivation {
  /** Seals what a log was passed over for while it was halted, a piece at a time. */
  catchUp(domainNumber: number): Promise<Progress>;
}

export function createSeal({
  redis,
  db,
  metrics,
  originOf,
  after,
  size = createPieceSize(usualPiece),
}: SealParts): Seal {
  const store = createStore(db);
  const nextIds = createIdLister(db.generation);
  /** The next records of a domain that may have too many for one piece; `isRest`: there are no others in this epoch. */
  const nextOf = async (sql: Sql, head: Head, epoch: number, limit: number) => {
    const { domainNumber, lastEpoch, lastId } = head;
    const ids = await nextIds(sql, { epoch, domainNumber, after: lastEpoch === epoch ? lastId : nil }, limit);
    const unsealed = ids.length === 0 ? [] : await readById(sql, domainNumber, ids);
    return { unsealed, isRest: ids.length < limit * 16 };
  };

  return {
    name: sealing,
    after,
    size,
    async piece(sql, epoch, after) {
      const limit = size.records();
      const { domains, through } = await nextDomains(sql, epoch, after, limit);
      const [first] = domains;
      if (!first) return undefined;
      const all = await lockHeads(sql, numbersOf(domains), originOf);
      // one that was begun when pieces were smaller goes on where it is, however few its records are
      const isAlone = first.records > limit || all.get(first.domainNumber)?.lastEpoch === epoch;
      const heads = [...all.values()].filter(({ domainNumber }) => !isAlone || domainNumber === first.domainNumber);
      const open = await growableAtEnd(redis, heads);
      const [only] = open;
      const isLarge = only !== undefined && isAlone;
      const unsealed = isLarge
        ? (await nextOf(sql, only, epoch, limit)).unsealed
        : await readEpoch(sql, epoch, numbersOf(open));
      await store(sql, { heads: open, epoch, unsealed });
      await saveHeads(sql, passedOver(heads, open, epoch));
      metrics.entriesSealed.inc(unsealed.length);
      if (isLarge && unsealed.length > 0) return after;
      return isAlone ? first.domainNumber : through;
    },
    catchUp: (domainNumber) => size.watch(() => catchUp(domainNumber)),
  };

  function catchUp(domainNumber: number): Promise<Progress> {
    return withMark(db, sealing, async (sql, mark) => {
      const locked = await lockHeads(sql, [domainNumber], originOf);
      const [head] = await growable(redis, [...locked.values()]);
      if (!head || head.waitsFrom === null) return 'done';
      const through = mark.domainNumber >= domainNumber ? mark.epoch + 1 : mark.epoch;
      const epoch = await nextEpochOf(sql, { domainNumber, from: head.waitsFrom, through });
      if (epoch === undefined) {
        await saveHeads(sql, [{ ...head, waitsFrom: null }]);
        return 'done';
      }
      const { unsealed, isRest } = await nextOf(sql, head, epoch, size.records());
      const heads = [{ ...head, waitsFrom: isRest ? epoch + 1 : epoch }];
      if (unsealed.length === 0) await saveHeads(sql, heads);
      else await store(sql, { heads, epoch, unsealed });
      metrics.entriesSealed.inc(unsealed.length);
      return 'more';
    });
  }
}

const numbersOf = (domains: { domainNumber: number }[]): number[] => domains.map(({ domainNumber }) => domainNumber);

/** The others are sealed later, from this epoch on. */
const passedOver = (heads: Head[], open: Head[], epoch: number): Head[] =>
  heads
    .filter((head) => !open.includes(head) && head.waitsFrom === null)
    .map((head) => ({ ...head, waitsFrom: epoch }));

interface Piece {
  heads: Head[];
  epoch: number;
  /** records of this epoch, by domain and id */
  unsealed: Unsealed[];
}

/** Gives a piece's records their positions; before them, the notices that they are the first to name. */
function createStore(db: Database) {
  const lackingNotices = createLackingNotices(db);
  return async (sql: Sql, { heads, epoch, unsealed }: Piece): Promise<void> => {
    const byDomain = groupBy(unsealed, ({ domainNumber }) => domainNumber);
    const growing = heads.flatMap((head) => {
      const records = byDomain.get(head.domainNumber);
      return records ? [{ head, records, noticeNumbers: new Set(numbersIn(records, 'noticeNumber')) }] : [];
    });
    const [userAgents, notices, lacking] = await Promise.all([
      // not remembered: with an erased visitor a text may go, and what is sealed must be made again from the rows
      findUserAgents(sql, numbersIn(unsealed, 'userAgentNumber')),
      findSeenNotices(sql, numbersIn(unsealed, 'noticeNumber')),
      lackingNotices(sql, growing),
    ]);
    const extensions = growing.map(({ head, records }) => {
      const texts = noticeTexts(head, lacking.get(head.domainNumber) ?? [], notices);
      const added = toAdded(head.domainId, epoch, records, { userAgents, notices });
      return { head, added: joined(addedTexts(epoch, texts), added) };
    });
    await extend(sql, extensions);
  };
}

function numbersIn(records: Unsealed[], column: 'userAgentNumber' | 'noticeNumber'): number[] {
  const numbers = new Set<number>();
  for (const record of records) if (record[column] !== null) numbers.add(record[column]);
  return [...numbers];
}
