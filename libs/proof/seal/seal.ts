/**
 * Seals: gives the records of closed epochs their positions in their domains' logs. In a log, records are ordered by epoch,
 * then id. A notice comes before the first record that names it, an erasure after the record that it erases. A position
 * that a checkpoint covers never changes.
 */

import type { Database, Sql } from '#libs/base/db/database';
import { groupBy } from '#libs/base/group-by';
import type { RedisConnection } from '#libs/base/redis/connection';
import { type Derivation, lastEpochDone, withMark } from '#libs/epochs/derivations';
import { createPieceSize, type PieceSize } from '#libs/epochs/piece-size';
import { createIdLister, type Mark, nil, type RecordRange } from '#libs/epochs/slices';
import { findSeenNotices } from '#libs/notices/documents';
import { findUserAgents } from '#libs/record/references';
import { type Head, lastSealed, lockHeads, saveHeads, sealing, type Waiting } from '../heads.ts';
import type { ProofMetrics } from '../metrics.ts';
import { addedTexts, joined } from './added.ts';
import { extend } from './grow.ts';
import { caughtUp, growable } from './halt.ts';
import { toAdded } from './leaves.ts';
import { createLackingNotices, noticeTexts } from './notices.ts';
import { planSteps, type Step, type StepPlan } from './steps.ts';
import { readUnsealed, type Unsealed } from './unsealed.ts';

interface SealParts {
  redis: RedisConnection;
  db: Database;
  metrics: ProofMetrics;
  originOf(domainId: string): string;
  /** the derivation that must have finished an epoch before that epoch may be sealed */
  after: string;
  /** of a transaction */
  size?: PieceSize;
}

/** records in one transaction */
const usualPiece = 32_768;

/**
 * Logs that are behind go through epochs a span at a time. A span has at most this many pieces of records, counted over all
 * domains, or is one larger epoch.
 */
const piecesInSpan = 2;

export interface Plan extends StepPlan {
  /** False once the connection may lead to another Postgres server, where the planned epochs may hold other records. */
  isCurrent(): boolean;
}

export interface Seal extends Derivation {
  size: PieceSize;
  /**
   * Plans what these logs lack in a span of epochs that sealing has passed. A log lacks entries there because it was halted
   * when sealing passed, or because a restart has since dropped entries that no checkpoint covered.
   */
  plan(waiting: Waiting[]): Promise<Plan>;
  /** Takes steps of one epoch that fit a piece together, or a single step of any size. */
  catchUp(steps: Step[], isCurrent: Plan['isCurrent']): Promise<CatchUpProgress | 'elsewhere'>;
}

interface CatchUpProgress {
  /** whether any log got entries, or waits from another epoch than before */
  hasGrown: boolean;
  /** the steps that are not done yet */
  rest: Step[];
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
  const nextIds = createIdLister(db.generation, size);

  return {
    name: sealing,
    after,
    size,
    nextIds,
    // taken from the log and not from the mark's id: a log may have been cut back or restarted in the middle of an epoch,
    // and workers of 0.1.0 do not update that id
    reached: async (sql, epoch, domainNumber) => (await lastSealed(sql, epoch, domainNumber)) ?? nil,
    async derive(sql, slice) {
      const heads = [...(await lockHeads(sql, slice.domainNumbers ?? [], originOf)).values()];
      const open = await caughtUp(redis, heads);
      const unsealed = open.length > 0 ? await readUnsealed(sql, { ...slice, domainNumbers: numbersOf(open) }) : [];
      await store(sql, { heads: open, epoch: slice.first, unsealed });
      await saveHeads(sql, passedOver(heads, open, slice.first));
      metrics.entriesSealed.inc(unsealed.length);
      return open.length > 0 ? undefined : slice.endIfSkipped;
    },
    plan: (waiting) => size.run(() => plan(waiting)),
    catchUp: (steps, isCurrent) => size.run(() => catchUp(steps, isCurrent)),
  };

  async function plan(waiting: Waiting[]): Promise<Plan> {
    const [generation, piece] = [db.generation(), size.maxRecords()];
    const planned = await db.read(async (sql) =>
      planSteps(sql, waiting, { through: await lastEpochDone(sql, sealing), span: piece * piecesInSpan, piece }),
    );
    return { ...planned, isCurrent: () => generation === db.generation() };
  }

  function catchUp(steps: Step[], isCurrent: Plan['isCurrent']): Promise<CatchUpProgress | 'elsewhere'> {
    return withMark(
      db,
      sealing,
      async (sql, mark) => {
        if (!isCurrent()) return { hasGrown: false, rest: [] };
        const ready = await findReady(sql, steps);
        const { unsealed, isRest } = await readLacking(sql, ready);
        const heads = ready.map(({ head, step }) => ({
          ...head,
          waitsFrom: isRest ? waitsAfter(step, mark) : step.epoch,
        }));
        const growing = new Set(unsealed.map(({ domainNumber }) => domainNumber));
        const epoch = steps[0]?.epoch ?? 0;
        if (unsealed.length > 0) await store(sql, { heads, epoch, unsealed });
        await saveHeads(
          sql,
          heads.filter(({ domainNumber }) => !growing.has(domainNumber)),
        );
        metrics.entriesSealed.inc(unsealed.length);
        const hasGrown = unsealed.length > 0 || heads.some(({ waitsFrom }, at) => waitsFrom !== ready[at]?.step.from);
        return { hasGrown, rest: isRest ? [] : steps.map((step) => ({ ...step, from: epoch })) };
      },
      size,
    );
  }

  /** Another process may have taken a step, or restarted a log, since the steps were planned. */
  async function findReady(sql: Sql, steps: Step[]): Promise<ReadyStep[]> {
    const locked = await lockHeads(sql, numbersOf(steps), originOf);
    const open = new Map((await growable(redis, [...locked.values()])).map((head) => [head.domainNumber, head]));
    return steps.flatMap((step) => {
      const head = open.get(step.domainNumber);
      return head?.waitsFrom === step.from ? [{ step, head }] : [];
    });
  }

  async function readLacking(sql: Sql, ready: ReadyStep[]): Promise<{ unsealed: Unsealed[]; isRest: boolean }> {
    const [first] = ready;
    if (!first || first.step.epoch === null) return { unsealed: [], isRest: true };
    const { epoch, records } = first.step;
    const limit = size.maxRecords();
    const lastIds = new Map(ready.map(({ head }) => [head.domainNumber, head.lastEpoch === epoch ? head.lastId : nil]));
    const all: RecordRange = { first: epoch, last: epoch, domainNumbers: [...lastIds.keys()] };
    if (ready.length === 1 && records > limit) {
      const { domainNumber } = first.head;
      const ids = await nextIds(sql, { epoch, domainNumber, after: lastIds.get(domainNumber) ?? nil }, limit);
      const unsealed = ids.length > 0 ? await readUnsealed(sql, { ...all, ids }) : [];
      return { unsealed, isRest: ids.length < limit * 16 };
    }
    const unsealed = await readUnsealed(sql, all);
    return {
      unsealed: unsealed.filter(({ domainNumber, id }) => id > (lastIds.get(domainNumber) ?? nil)),
      isRest: true,
    };
  }
}

/** A log that is where its step begins. */
interface ReadyStep {
  step: Step;
  /** locked */
  head: Head;
}

/** The epoch that the log waits from after this step; null once it has caught up with the others. */
const waitsAfter = ({ domainNumber, next }: Step, mark: Mark): number | null =>
  next > (mark.domainNumber >= domainNumber ? mark.epoch + 1 : mark.epoch) ? null : next;

const numbersOf = (domains: { domainNumber: number }[]): number[] => domains.map(({ domainNumber }) => domainNumber);

/** Heads that cannot grow now. They catch up later, from this epoch on. */
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

/**
 * Adds a piece's records to their logs. In each log, the notices that these records are the first to name come before all
 * of them.
 */
function createStore(db: Database) {
  const lackingNotices = createLackingNotices(db);
  return async (sql: Sql, { heads, epoch, unsealed }: Piece): Promise<void> => {
    const byDomain = groupBy(unsealed, ({ domainNumber }) => domainNumber);
    const growing = heads.flatMap((head) => {
      const records = byDomain.get(head.domainNumber);
      return records ? [{ head, records, noticeNumbers: new Set(numbersIn(records, 'noticeNumber')) }] : [];
    });
    const [userAgents, notices, lacking] = await Promise.all([
      // not cached: an erasure may delete a text, and an entry must be reproducible from the stored rows
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
