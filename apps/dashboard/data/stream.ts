/**
 * The latest records of all domains: what was read page by page, with what arrives meanwhile in front. Kept in chunks,
 * so that a new record redraws one of them and not thousands of rows.
 */
import type { FullRecord, OrgStats, ShortRecord } from '#libs/contract/responses';

export type StreamRecord = FullRecord | ShortRecord;

export interface Stream {
  /** newest first, each without repetition */
  chunks: StreamRecord[][];
  /** what continues it */
  cursor: string | null;
  /** more came at once than was asked for: the next question has to ask for more */
  hasGap: boolean;
  /** told apart from records that were there before the page was opened */
  arrived: ReadonlySet<string>;
}

export const idOf = ({ id, domainId }: StreamRecord): string => `${id} ${domainId}`;
export const isFull = (record: StreamRecord): record is FullRecord => 'receivedAt' in record;
export const lengthOf = ({ chunks }: Stream): number => chunks.reduce((sum, chunk) => sum + chunk.length, 0);

const splitAbove = 100;

export const startStream = ({ records, nextCursor }: OrgStats): Stream => ({
  chunks: records.length > 0 ? [records] : [],
  cursor: nextCursor,
  hasGap: false,
  arrived: new Set(),
});

export const continueStream = (stream: Stream, { records, nextCursor }: OrgStats): Stream => ({
  ...stream,
  chunks: [...stream.chunks, records],
  cursor: nextCursor,
});

/** Puts in front what a live answer has and the stream has not. Where nothing of it is known, `asked` were too few. */
export function joinStream(stream: Stream, answer: OrgStats, asked: number): Stream {
  const [head = [], ...rest] = stream.chunks;
  const known = new Set([...head, ...(rest[0] ?? [])].map(idOf));
  const fresh = answer.records.filter((record) => !known.has(idOf(record)));
  if (fresh.length === 0) return stream.hasGap ? { ...stream, hasGap: false } : stream;
  const arrived = new Set([...stream.arrived, ...fresh.map(idOf)]);
  // the first ones ever bring what continues them
  if (known.size === 0) return { ...startStream(answer), arrived };
  const isGap = fresh.length === answer.records.length && answer.nextCursor !== null;
  if (isGap && !stream.hasGap && asked < enough) return { ...stream, hasGap: true };
  // too much to fill in: it begins anew with what is newest
  if (isGap) return { ...startStream(answer), arrived };
  const newest = [...fresh, ...head].sort((one, other) => (idOf(one) < idOf(other) ? 1 : -1));
  const cut = newest.length > splitAbove ? [newest.slice(0, -splitAbove), newest.slice(-splitAbove)] : [newest];
  return { ...stream, chunks: [...cut, ...rest], hasGap: false, arrived };
}

/** How many records a live question asks for, and how many after a gap. */
export const usual = 5;
export const enough = 200;
