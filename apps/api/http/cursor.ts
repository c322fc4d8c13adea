/** Cursors: the position after a page, signed with the organization's key and bound to one domain or to all of them. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { Problem } from '#libs/contract/problem';
import { domainIdPattern } from '#libs/contract/terms';
import { uuidv7Pattern } from '#libs/contract/uuid';

const position = z.tuple([z.string().regex(uuidv7Pattern), z.string().regex(domainIdPattern), z.int().min(1)]);

export interface Position {
  /** the last record of the previous page; two domains may have a record with the same id */
  after: { id: string; domainId: string };
  /** the number of the next page */
  page: number;
}

interface Binding {
  cursorKey: Uint8Array;
  /** '' for all domains of the organization */
  domainId: string;
}

const signatureBytes = 16;

/** A domain id never contains NUL, so the boundary between id and payload is unambiguous. */
const sign = (payload: Uint8Array, { cursorKey, domainId }: Binding): Buffer =>
  createHmac('sha256', cursorKey).update(`${domainId}\0`).update(payload).digest().subarray(0, signatureBytes);

export function makeCursor({ after, page }: Position, binding: Binding): string {
  const payload = Buffer.from(JSON.stringify([after.id, after.domainId, page]));
  return Buffer.concat([sign(payload, binding), payload]).toString('base64url');
}

function parse(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Throws a 400 Problem for any cursor that `makeCursor` did not make with the same binding. */
export function readCursor(cursor: string, binding: Binding): Position {
  const bytes = Buffer.from(cursor, 'base64url');
  const signature = bytes.subarray(0, signatureBytes);
  const payload = bytes.subarray(signatureBytes);
  const genuine =
    bytes.toString('base64url') === cursor &&
    signature.length === signatureBytes &&
    timingSafeEqual(signature, sign(payload, binding));
  const found = genuine ? position.safeParse(parse(payload)) : undefined;
  if (!found?.success) {
    const message = 'is not a valid cursor for this list';
    throw new Problem('invalid_request', `/cursor ${message}`, { errors: [{ path: '/cursor', message }] });
  }
  const [id, domainId, page] = found.data;
  return { after: { id, domainId }, page };
}
