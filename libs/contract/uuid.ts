/** A record's id is a UUIDv7 (RFC 9562): its first 48 bits are the decision's time in milliseconds. */
import { v7 } from 'uuid';

export const uuidv7Pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

export const makeId = (): string => v7();

/** An id whose time is `time` (Unix milliseconds). */
export const makeIdAt = (time: number): string => v7({ msecs: time });

/** The time that the id carries, in Unix milliseconds. */
export const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
