/**
 * Derivations. Each goes through the closed epochs in order and handles every record once: what it stores for a slice is
 * committed together with its new mark.
 */

import type { Database, Sql } from '#libs/base/db/database';
import { type PieceSize, PieceTooLarge } from './piece-size.ts';
import { type Mark, nextSlice, nil, type Slice, type Slicing } from './slices.ts';

export interface Derivation extends Slicing {
  name: string;
  /** name of the derivation that must finish an epoch before this one may begin it */
  after?: string;
  /** The first epoch that has work for it; undefined if none has. */
  first?(sql: Sql): Promise<number | undefined>;
  /**
   * Handles a slice. If it stops before the slice's end or skips beyond it, it returns the mark it has reached; otherwise
   * undefined.
   */
  derive(sql: Sql, slice: Slice): Promise<Mark | undefined>;
}

/** `elsewhere`: another process holds the mark. */
export type Progress = 'more' | 'done' | 'elsewhere';

/** Milliseconds for all statements of a slice together; each of them also has the statement timeout. */
const usualDeadline = 30_000;
const deadlineOf = (size: PieceSize): number => size.patience() ?? usualDeadline;

/** Handles slices up to epoch `upTo`, by default all that may be derived. */
export async function deriveAll(
  db: Database,
  derivation: Derivation,
  signal: AbortSignal,
  upTo?: number,
): Promise<void> {
  while (!signal.aborted && (await deriveNext(db, derivation, upTo)) === 'more');
}

/** Handles one slice, if there is one. */
export async function deriveNext(
  db: Database,
  derivation: Derivation,
  upTo = Number.POSITIVE_INFINITY,
): Promise<Progress> {
  try {
    return await derivation.size.run(() => deriveSlice(db, derivation, upTo));
  } catch (error) {
    // the next one is smaller
    if (error instanceof PieceTooLarge) return 'more';
    throw error;
  }
}

const deriveSlice = (db: Database, derivation: Derivation, upTo: number): Promise<Progress> =>
  db.transaction(async (sql): Promise<Progress> => {
    const { name, after, first, derive } = derivation;
    const mark = await lockMark(sql, name, after);
    if (!mark) return 'elsewhere';
    const through = Math.min(upTo, mark.through);
    // `through` was read first, so everything that `first` looks for in the epochs up to `through` was committed before
    // `first` runs its query
    const from = first ? ((await first(sql)) ?? Number.POSITIVE_INFINITY) : 0;
    const epoch = from > through ? undefined : await nextEpoch(sql, Math.max(mark.epoch, from - 1), through);
    if (epoch === undefined) {
      if (through > mark.epoch) await setMark(sql, name, { epoch: through, domainNumber: 0, id: nil });
      return 'done';
    }
    const followsMark = epoch === mark.epoch + 1;
    const start = followsMark ? mark : { epoch: epoch - 1, domainNumber: 0, id: nil };
    const slice = await nextSlice(sql, start, through, derivation);
    const isEmpty = slice.domainNumbers?.length === 0 || slice.ids?.length === 0;
    const end = (isEmpty ? undefined : await derive(sql, slice)) ?? slice.end;
    await setMark(sql, name, end);
    return end.epoch === through ? 'done' : 'more';
  }, deadlineOf(derivation.size));

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
  }, size && deadlineOf(size));

/**
 * Locks the derivation's mark, and adds it if there is none. Undefined if another process holds it. `through`: the last
 * epoch that may be derived. Workers of 0.1.0 move the epoch and domain but do not update the id. So the id counts only
 * while the mark is still at the epoch and domain it was stored with. Remove this check once no such worker is left.
 */
async function lockMark(sql: Sql, name: string, after?: string): Promise<(Mark & { through: number }) | undefined> {
  const through = after === undefined ? sql`open - 1 from epochs` : sql`epoch from derivations where name = ${after}`;
  const lock = async () => {
    const [mark] = await sql<(Mark & { through: number })[]>`
      select epoch, domain_number as "domainNumber", coalesce((select ${through}), 0) as through,
        case when id_epoch = epoch + 1 and id_domain_number = domain_number + 1 then id else ${nil} end as id
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

async function setMark(sql: Sql, name: string, { epoch, domainNumber, id }: Mark): Promise<void> {
  await sql`
    update derivations set epoch = ${epoch}, domain_number = ${domainNumber},
      id_epoch = ${epoch + 1}, id_domain_number = ${domainNumber + 1}, id = ${id}
    where name = ${name}`;
}

/** The last epoch that the derivation is done with. */
export async function lastEpochDone(sql: Sql, name: string): Promise<number> {
  const [row] = await sql<{ epoch: number }[]>`select epoch from derivations where name = ${name}`;
  return row?.epoch ?? 0;
}

/**
 * Whether the last epoch that the derivation finished was closed at least `milliseconds` ago. Also true if it has not
 * finished any yet.
 */
export async function isBehindBy(sql: Sql, name: string, milliseconds: number): Promise<boolean> {
  const [row] = await sql<{ isBehind: boolean }[]>`
    select not exists (
      select from derivations join closed_epochs using (epoch)
      where name = ${name} and closed_at > clock_timestamp() - ${milliseconds} * interval '1 ms'
    ) as "isBehind"`;
  return row?.isBehind ?? true;
}
