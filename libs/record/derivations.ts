/**
 * How far derivations are. Each goes through the closed epochs in order and handles every record once: what it stores of a
 * piece, and its mark, are one transaction.
 */

import type { Database, Sql } from '#libs/base/db/database';
import { isTooSlow } from '#libs/base/db/errors';

export interface Mark {
  /** done with all of it */
  epoch: number;
  /** and, in the one after it, with the domains up to this number; 0 for none */
  domainNumber: number;
}

export interface Derivation {
  name: string;
  /** the one that has to be done with an epoch before this may begin it */
  after?: string;
  /** of its pieces */
  size?: PieceSize;
  /** The first epoch that it has to look at; undefined for none. */
  first?(sql: Sql): Promise<number | undefined>;
  /**
   * Handles the next records of `epoch`, those of domains beyond `after`. Answers the domain up to which all of the epoch
   * is handled now, or undefined where that is the whole epoch.
   */
  piece(sql: Sql, epoch: number, after: number): Promise<number | undefined>;
  /**
   * Handles all records of these epochs at once, no more than a piece may have: an epoch costs by itself, however few its
   * records are. False where the first epoch was begun in pieces, and goes on in pieces.
   */
  span?(sql: Sql, epochs: Span): Promise<boolean>;
}

/** Epochs that follow each other. */
export interface Span {
  first: number;
  last: number;
}

/** `elsewhere`: another process is at it. */
export type Progress = 'more' | 'done' | 'elsewhere';

/**
 * Does `work`, of which a statement may take minutes after pieces that took too long; those after it may again take as long
 * as others. To be called in a transaction of a derivation.
 */
export async function patiently<T>(sql: Sql, size: PieceSize, work: () => Promise<T>): Promise<T> {
  const patience = size.patience();
  if (patience === undefined) return work();
  const timeout = (value: string) => sql<{ before: string }[]>`
    select before, set_config('statement_timeout', ${value}, true)
    from current_setting('statement_timeout') as before`;
  const [usual] = await timeout(String(patience));
  const result = await work();
  if (usual) await timeout(usual.before);
  return result;
}

/** Handles one piece, if there is one. `upTo`: the last epoch that it may have; default: whatever may be derived. */
export const deriveNext = (
  db: Database,
  derivation: Derivation,
  upTo = Number.POSITIVE_INFINITY,
): Promise<Progress> => {
  const derive = () => derivePiece(db, derivation, upTo);
  return derivation.size ? derivation.size.watch(derive) : derive();
};

const derivePiece = (
  db: Database,
  { name, after, size, first, piece, span }: Derivation,
  upTo: number,
): Promise<Progress> =>
  db.transaction(async (sql): Promise<Progress> => {
    const mark = await lockMark(sql, name, after);
    if (!mark) return 'elsewhere';
    const through = Math.min(upTo, mark.through);
    // read after what may be derived: who is concerned by it is known by then
    const from = first ? ((await first(sql)) ?? Number.POSITIVE_INFINITY) : 0;
    const epoch = from > through ? undefined : await nextEpoch(sql, Math.max(mark.epoch, from - 1), through);
    if (epoch === undefined) {
      if (through > mark.epoch) await setMark(sql, name, { epoch: through, domainNumber: 0 });
      return 'done';
    }
    const done = epoch === mark.epoch + 1 ? mark.domainNumber : 0;
    const last = span && size && done === 0 ? await lastOfSpan(sql, epoch, through, size.records()) : undefined;
    if (last !== undefined && (await span?.(sql, { first: epoch, last }))) {
      await setMark(sql, name, { epoch: last, domainNumber: 0 });
      return last === through ? 'done' : 'more';
    }
    const reached = await piece(sql, epoch, done);
    const next = reached === undefined ? { epoch, domainNumber: 0 } : { epoch: epoch - 1, domainNumber: reached };
    await setMark(sql, name, next);
    return next.epoch === through ? 'done' : 'more';
  }, size?.patience());

/** Does `work` in a transaction that holds the derivation's mark, unless another process holds it. */
export const withMark = <T>(
  db: Database,
  name: string,
  work: (sql: Sql, mark: Mark) => Promise<T>,
  size?: PieceSize,
): Promise<T | 'elsewhere'> =>
  db.transaction(async (sql): Promise<T | 'elsewhere'> => {
    const mark = await lockMark(sql, name);
    return mark ? work(sql, mark) : 'elsewhere';
  }, size?.patience());

/** Undefined where another process holds it. `through`: the last epoch that may be derived. */
async function lockMark(sql: Sql, name: string, after?: string): Promise<(Mark & { through: number }) | undefined> {
  const through = after === undefined ? sql`open - 1 from epochs` : sql`epoch from derivations where name = ${after}`;
  const lock = async () => {
    const [mark] = await sql<(Mark & { through: number })[]>`
      select epoch, domain_number as "domainNumber", coalesce((select ${through}), 0) as through
      from derivations where name = ${name} for update skip locked`;
    return mark;
  };
  const mark = await lock();
  if (mark) return mark;
  const added = await sql`insert into derivations (name) values (${name}) on conflict do nothing`;
  return added.count === 1 ? lock() : undefined;
}

/** The first epoch after `epoch` that has records. */
async function nextEpoch(sql: Sql, epoch: number, through: number): Promise<number | undefined> {
  const [row] = await sql<{ epoch: number | null }[]>`
    select min(epoch) as epoch from records where epoch > ${epoch} and epoch <= ${through}`;
  return row?.epoch ?? undefined;
}

/** The last epoch from `first` on until which there are no more than `limit` records; undefined where the first has more. */
export async function lastOfSpan(sql: Sql, first: number, through: number, limit: number): Promise<number | undefined> {
  const [row] = await sql<{ last: number }[]>`select last_of_span(${first}, ${through}, ${limit}) as last`;
  return row && row.last >= first ? row.last : undefined;
}

async function setMark(sql: Sql, name: string, { epoch, domainNumber }: Mark): Promise<void> {
  await sql`update derivations set epoch = ${epoch}, domain_number = ${domainNumber} where name = ${name}`;
}

/** The last epoch that the derivation is done with. */
export async function doneWith(sql: Sql, name: string): Promise<number> {
  const [row] = await sql<{ epoch: number }[]>`select epoch from derivations where name = ${name}`;
  return row?.epoch ?? 0;
}

/** Whether the last epoch that the derivation is done with was closed `milliseconds` ago, or none was. */
export async function isBehindBy(sql: Sql, name: string, milliseconds: number): Promise<boolean> {
  const [row] = await sql<{ isBehind: boolean }[]>`
    select not exists (
      select from derivations join closed_epochs using (epoch)
      where name = ${name} and closed_at > clock_timestamp() - ${milliseconds} * interval '1 ms'
    ) as "isBehind"`;
  return row?.isBehind ?? true;
}

/** pieces in a row that have to be done before they grow */
const piecesUntilGrowth = 8;

/**
 * How many records a piece has. One whose statement took longer than statements may would take as long again: the next has
 * half as many, down to a single one. After some that did not, pieces grow again.
 */
export interface PieceSize {
  records(): number;
  /**
   * Milliseconds that may be taken by what reads all that is left of a domain's epoch, however small the piece is. Undefined
   * while no piece took too long: then it takes as long as others may.
   */
  patience(): number | undefined;
  /**
   * Does `work` as it is, and learns from how it ends. What ends because of others, or of a lost connection, teaches
   * nothing.
   */
  watch<T>(work: () => Promise<T>): Promise<T>;
}

/** Lasts as long as the process: whoever begins anew finds out again what is too much. */
export function createPieceSize(usual: number): PieceSize {
  let records = usual;
  let done = 0;
  return {
    records: () => records,
    patience: () => (records < usual ? 5 * 60_000 : undefined),
    async watch(work) {
      try {
        const result = await work();
        done += 1;
        if (done >= piecesUntilGrowth && records < usual) {
          records = Math.min(usual, records * 2);
          done = 0;
        }
        return result;
      } catch (error) {
        if (isTooSlow(error)) {
          records = Math.max(1, Math.floor(records / 2));
          done = 0;
        }
        throw error;
      }
    },
  };
}
