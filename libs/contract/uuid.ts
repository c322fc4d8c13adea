/** A record's id is a UUIDv7 (RFC 9562): its first 48 bits are the decision's time in milliseconds. */
import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

export const uuidv7Pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Asking the system for randomness id by id is a measurable part of a request. */
const pool = new Uint8Array(16 * 256);
let used = pool.length;

function random(): Uint8Array {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += 16;
  return pool.subarray(used - 16, used);
}

/** An id whose time is `time` (Unix milliseconds). */
export const makeIdAt = (time: number): string => v7({ msecs: time, random: random() });

/** Not above any id of that time or later: a bound for ranges of ids. */
export function lowestIdAt(time: number): string {
  const hex = Math.max(0, time).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The time that the id carries, in Unix milliseconds. */
export const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
