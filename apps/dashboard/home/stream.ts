/**
 * The latest records of all domains: the pages loaded so far, with live records in front. They are in chunks, so that a
 * new record re-renders one chunk instead of thousands of rows.
 */

import type { OrgStats, ShortRecord } from '#libs/log/contract';
import type { FullRecord } from '#libs/record/contract';

export type StreamRecord = FullRecord | ShortRecord;

export interface Stream {
  /** newest first, without duplicates */
  chunks: StreamRecord[][];
  /** where the next page starts */
  cursor: string | null;
  /** more records arrived than the last poll returned, so the next one asks for more */
  hasGap: boolean;
  /** ids of records that arrived while the page was open and are highlighted */
  arrived: ReadonlySet<string>;
}

export const idOf = ({ id, domainId }: StreamRecord): string => `${id} ${domainId}`;
export const isFull = (record: StreamRecord): record is FullRecord => 'receivedAt' in record;
export const lengthOf = ({ chunks }: Stream): number => chunks.reduce((sum, chunk) => sum + chunk.length, 0);

/** Records per poll, and after a gap. */
export const pollLimit = 5;
export const gapLimit = 200;

/** The first chunk is split when it grows beyond this many records. */
const longestChunk = 100;

export const startStream = ({ records, nextCursor }: OrgStats): Stream => ({
  chunks: records.length > 0 ? [records] : [],
  cursor: nextCursor,
  hasGap: false,
  arrived: new Set(),
});

export const appendPage = (stream: Stream, { records, nextCursor }: OrgStats): Stream => ({
  ...stream,
  chunks: [...stream.chunks, records],
  cursor: nextCursor,
});

/** Adds the new records of a poll in front. If all are new, `asked` was too small and there may be a gap. */
export function mergeLatest(stream: Stream, answer: OrgStats, asked: number): Stream {
  const [head = [], ...rest] = stream.chunks;
  const known = new Set([...head, ...(rest[0] ?? [])].map(idOf));
  const fresh = answer.records.filter((record) => !known.has(idOf(record)));
  if (fresh.length === 0) return stream.hasGap ? { ...stream, hasGap: false } : stream;
  const arrived = new Set([...stream.arrived, ...fresh.map(idOf)]);
  // an empty stream has no cursor yet: take that of the response
  if (known.size === 0) return { ...startStream(answer), arrived };
  const isGap = fresh.length === answer.records.length && answer.nextCursor !== null;
  if (isGap && !stream.hasGap && asked < gapLimit) return { ...stream, hasGap: true };
  // the gap is too large to fill: start over with the newest records
  if (isGap) return { ...startStream(answer), arrived };
  const newest = [...fresh, ...head].sort((one, other) => (idOf(one) < idOf(other) ? 1 : -1));
  const split = newest.length > longestChunk ? [newest.slice(0, -longestChunk), newest.slice(-longestChunk)] : [newest];
  return { ...stream, chunks: [...split, ...rest], hasGap: false, arrived };
}
