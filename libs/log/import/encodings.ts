/** Converts a file from its own encoding to UTF-8. */
import { encodingOf } from '#libs/base/http/body';

/** The file as a whole cannot be read. Its sender sees the message. */
export class Unreadable extends Error {}

/** UTF-8, UTF-16 and single-byte encodings: those in which spreadsheets save. */
export function isReadable(label: string): boolean {
  const encoding = encodingOf(label) ?? '';
  return /^(?:utf-8|utf-16[lb]e|windows-\d+|iso-8859-\d+(?:-i)?|macintosh|koi8-[ru])$/.test(encoding);
}

const utf8Mark = Buffer.from('\ufeff');
const marks: [encoding: string, mark: Buffer][] = [
  ['utf-8', utf8Mark],
  ['utf-16le', Buffer.from([0xff, 0xfe])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
];

/**
 * Yields the file in pieces, as UTF-8 without a byte order mark; yields nothing for an empty file. `label`: one that
 * `isReadable`; a byte order mark overrides it. UTF-8 is passed on unchecked, so that readers can reject single rows.
 */
export async function* inUtf8(bytes: AsyncIterable<Buffer>, label = 'utf-8'): AsyncGenerator<Buffer> {
  let decode: Decode | undefined;
  for await (const { piece, isLast } of inPieces(bytes)) {
    if (decode) {
      yield decode(piece, isLast);
      continue;
    }
    decode = decoderOf(piece, label);
    const start = decode(piece, isLast);
    requireText(start);
    yield start.subarray(0, utf8Mark.length).equals(utf8Mark) ? start.subarray(utf8Mark.length) : start;
  }
}

type Decode = (piece: Buffer, isLast: boolean) => Buffer;

function decoderOf(start: Buffer, label: string): Decode {
  const marked = marks.find(([, mark]) => start.subarray(0, mark.length).equals(mark))?.[0];
  const encoding = marked ?? encodingOf(label) ?? 'utf-8';
  if (encoding === 'utf-8') return (piece) => piece;
  const decoder = new TextDecoder(encoding, { fatal: true });
  return (piece, isLast) => {
    try {
      // without `stream`, Node 20 reads windows-1252 as ISO 8859-1
      return Buffer.from(decoder.decode(piece, { stream: true }) + (isLast ? decoder.decode() : ''));
    } catch (error) {
      throw new Unreadable(`the file is not ${encoding}`, { cause: error });
    }
  };
}

/** Throws if the first bytes of a file are not those of text in UTF-8. */
function requireText([first = 32, second = 32, third]: Buffer): void {
  if (first === 0x1f && second === 0x8b) throw new Unreadable('the file is packed (gzip): unpack it first');
  if (first === 0x50 && second === 0x4b && third === 3)
    throw new Unreadable('the file is an archive, such as a workbook (.xlsx): save it as CSV first');
  if (first === 0 || second === 0)
    throw new Unreadable('the file is UTF-16 without a byte order mark: give its encoding, utf-16, or send UTF-8');
}

const pieceSize = 64 * 1024;

/** Joins small chunks, since readers read an incomplete row again with each piece. */
async function* inPieces(bytes: AsyncIterable<Buffer>): AsyncGenerator<{ piece: Buffer; isLast: boolean }> {
  let chunks: Buffer[] = [];
  let size = 0;
  let hasBytes = false;
  for await (const chunk of bytes) {
    chunks.push(chunk);
    size += chunk.length;
    hasBytes ||= size > 0;
    if (size < pieceSize) continue;
    yield { piece: Buffer.concat(chunks), isLast: false };
    chunks = [];
    size = 0;
  }
  if (hasBytes) yield { piece: Buffer.concat(chunks), isLast: true };
}
