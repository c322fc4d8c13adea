/** Cursors: the position after a page, signed with the organization's key, for one domain or for all of them. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Problem } from '#libs/contract/problem';
import { uuidv7Pattern } from '#libs/contract/uuid';

export interface Position {
  /** the last record of the page before */
  after: string;
  /** the number of the page that follows */
  page: number;
}

interface Binding {
  cursorKey: Uint8Array;
  /** '' for all domains of the organization */
  domainId: string;
}

const idBytes = 16;
const pageBytes = 4;
const signatureBytes = 16;

const sign = (position: Uint8Array, { cursorKey, domainId }: Binding): Buffer =>
  createHmac('sha256', cursorKey).update(position).update(domainId).digest().subarray(0, signatureBytes);

export function makeCursor({ after, page }: Position, binding: Binding): string {
  const position = Buffer.alloc(idBytes + pageBytes);
  position.write(after.replaceAll('-', ''), 'hex');
  position.writeUInt32BE(page, idBytes);
  return Buffer.concat([position, sign(position, binding)]).toString('base64url');
}

/** Throws a 400 Problem for anything that `makeCursor` did not make with the same binding. */
export function readCursor(cursor: string, binding: Binding): Position {
  const bytes = Buffer.from(cursor, 'base64url');
  const position = bytes.subarray(0, idBytes + pageBytes);
  const signature = bytes.subarray(idBytes + pageBytes);
  const genuine =
    bytes.toString('base64url') === cursor &&
    signature.length === signatureBytes &&
    timingSafeEqual(signature, sign(position, binding));
  const after = position.toString('hex', 0, idBytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  if (!genuine || !uuidv7Pattern.test(after)) {
    const message = 'is not a cursor of this list';
    throw new Problem('invalid_request', `/cursor ${message}`, { errors: [{ path: '/cursor', message }] });
  }
  return { after, page: position.readUInt32BE(idBytes) };
}
