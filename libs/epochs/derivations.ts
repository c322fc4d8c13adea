/**
 * How far derivations are. Each goes through the closed epochs in order and handles every record once: what it stores of a
 * piece, and its mark, are one transaction.
 */

import type { Database, Sql } from '#libs/base/db/database';
import type { PieceSize } from './piece-size.ts';

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
