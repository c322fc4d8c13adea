/** A record's id is a UUIDv7 (RFC 9562): its first 48 bits are the decision's time in milliseconds. */
import { randomUUID } from 'node:crypto';

export const uuidv7Pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

export const makeId = (): string => makeIdAt(Date.now());

/** An id whose time is `time` (Unix milliseconds). The rest is random, taken from a version 4 UUID, variant included. */
export function makeIdAt(time: number): string {
  const digits = time.toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7${randomUUID().slice(15)}`;
}

/** The time that the id carries, in Unix milliseconds. */
export const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
