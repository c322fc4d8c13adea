/** A record's id is a UUIDv7 (RFC 9562): its first 48 bits are the decision's time in milliseconds. */

export const uuidv7Pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** An id whose time is `time` (Unix milliseconds). The rest is random, taken from a version 4 UUID, variant included. */
export const makeIdAt = (time: number): string => `${timePart(time)}-7${crypto.randomUUID().slice(15)}`;

/** The id of that time whose other bits are those of `digest` (hex, at least 20 digits): the same for the same. */
export function idOfDigest(time: number, digest: string): string {
  const variant = ((Number.parseInt(digest[3] ?? '0', 16) & 3) | 8).toString(16);
  return `${timePart(time)}-7${digest.slice(0, 3)}-${variant}${digest.slice(4, 7)}-${digest.slice(7, 19)}`;
}

/** A bound for ranges of ids: no id of that time or later is below it. */
export const lowestIdAt = (time: number): string => `${timePart(time)}-0000-0000-000000000000`;

function timePart(time: number): string {
  const digits = Math.max(0, time).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

/** The time that the id carries, in Unix milliseconds. */
export const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
