/** Rows of a file, as its reader hands them on, and the pieces of it that readers take. */
import type { Refusal } from './contract.ts';
import { Unreadable } from './unreadable.ts';

export type Row =
  | {
      /** from 1 */
      row: number;
      /** undefined: of a CSV, a cell that stands for null, such as NULL */
      given: Record<string, unknown>;
      /** the row as it stands in the file: the same text is the same record, where nothing else says which it is */
      text: string;
      refusal?: undefined;
    }
  | { row: number; refusal: Refusal; text: string; given?: undefined };

/** Of one piece of the file, in order. */
export type Rows = AsyncIterable<Row[]>;

/** Throws where the first bytes of a file are not those of UTF-8 text. */
export function requireUtf8(start: Uint8Array): void {
  const [first = 32, second = 32] = start;
  if (first === 0x1f && second === 0x8b) throw new Unreadable('the file is packed (gzip): unpack it first');
  if (first === 0x50 && second === 0x4b && start[2] === 3)
    throw new Unreadable('the file is an archive, such as a workbook (.xlsx): save it as CSV first');
  if (first === 0 || second === 0)
    throw new Unreadable('the file is UTF-16 without a byte order mark: give its encoding, utf-16, or send UTF-8');
}

/** Bytes that hold no row look as if they were imported: whoever sent them has to learn that nothing was. */
export const withoutRows = (): Unreadable => new Unreadable('the file has no rows; nothing was imported');

const pieceSize = 64 * 1024;

/** A file in pieces of one size, however it arrives: what is incomplete in one is read again with the next. */
export async function* inPieces(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    chunks.push(chunk);
    size += chunk.length;
    if (size < pieceSize) continue;
    yield Buffer.concat(chunks);
    chunks = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(chunks);
}
