/** Cursors: where a page ends, signed with the organization's key and bound to one domain or all, and to the filters. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { uuidv7Pattern } from '../terms/calendar.ts';
import { Problem } from '../terms/problem.ts';
import { domainIdPattern } from '../terms/terms.ts';

const position = z.tuple([z.string().regex(uuidv7Pattern), z.string().regex(domainIdPattern), z.int().min(1)]);
/** the kind of item, such as `webhook`, and the row's number */
const rowNumber = z.tuple([z.string(), z.int().min(1)]);
const twoNumbers = z.tuple([z.literal('act'), z.int().min(1), z.int().min(1)]);
interface Position {
  /** the last record of the previous page; two domains may have a record with the same id */
  after: { id: string; domainId: string };
  /** the number of the next page */
  page: number;
}

export interface Binding {
  cursorKey: Uint8Array;
  /** '' for all domains of the organization */
  domainId: string;
  /** by name; absent ones are undefined */
  filters?: Record<string, string | number | boolean | undefined>;
}

const signatureBytes = 16;

/** Neither a domain's id nor JSON contains NUL, so the boundaries of id, filters and payload are unambiguous. */
const sign = (payload: Uint8Array, { cursorKey, domainId, filters = {} }: Binding): Buffer =>
  createHmac('sha256', cursorKey)
    .update(`${domainId}\0${textOf(filters)}`)
    .update(payload)
    .digest()
    .subarray(0, signatureBytes);

/** Empty without filters. */
function textOf(filters: NonNullable<Binding['filters']>): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  return given.length === 0 ? '' : `${JSON.stringify(given.toSorted(([one], [other]) => (one < other ? -1 : 1)))}\0`;
}

export const makeCursor = ({ after, page }: Position, binding: Binding): string =>
  make([after.id, after.domainId, page], binding);

/** `after`: the number of the page's last row. */
export const makeNumberCursor = (of: string, after: number, binding: Binding): string => make([of, after], binding);

/** For a list merged from two tables: the number of the last row of each. */
export const makeMergedCursor = (of: 'act', one: number, other: number, binding: Binding): string =>
  make([of, one, other], binding);

function make(content: z.infer<typeof position | typeof rowNumber | typeof twoNumbers>, binding: Binding): string {
  const payload = Buffer.from(JSON.stringify(content));
  return Buffer.concat([sign(payload, binding), payload]).toString('base64url');
}

function parse(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Throws a 400 unless `makeCursor` made the cursor with the same binding. */
export function readCursor(cursor: string, binding: Binding): Position {
  const [id, domainId, page] = read(position, cursor, binding);
  return { after: { id, domainId }, page };
}

/** As `readCursor`, for `makeNumberCursor`. */
export function readNumberCursor(of: string, cursor: string, binding: Binding): number {
  const [listed, after] = read(rowNumber, cursor, binding);
  if (listed !== of) throw badCursor();
  return after;
}

/** As `readCursor`, for `makeMergedCursor`. */
export function readMergedCursor(cursor: string, binding: Binding): [one: number, other: number] {
  const [, one, other] = read(twoNumbers, cursor, binding);
  return [one, other];
}

function read<Content extends z.ZodType>(content: Content, cursor: string, binding: Binding): z.infer<Content> {
  const bytes = Buffer.from(cursor, 'base64url');
  const signature = bytes.subarray(0, signatureBytes);
  const payload = bytes.subarray(signatureBytes);
  const genuine =
    bytes.toString('base64url') === cursor &&
    signature.length === signatureBytes &&
    timingSafeEqual(signature, sign(payload, binding));
  const found = genuine ? content.safeParse(parse(payload)) : undefined;
  if (!found?.success) throw badCursor();
  return found.data;
}

function badCursor(): Problem {
  const message = 'is not a valid cursor for this list';
  return new Problem('invalid_request', `/cursor ${message}`, { errors: [{ path: '/cursor', in: 'query', message }] });
}
