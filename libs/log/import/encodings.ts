/** A file in another encoding becomes UTF-8 as it comes. */
import { encodingOf } from '#libs/base/http/body';
import { Unreadable } from './unreadable.ts';

/** UTF-8, UTF-16 and those of one byte a character: what stands in files that spreadsheets write. */
export function isReadable(label: string): boolean {
  const encoding = encodingOf(label) ?? '';
  return /^(?:utf-8|utf-16[lb]e|windows-\d+|iso-8859-\d+(?:-i)?|macintosh|koi8-[ru])$/.test(encoding);
}

const marks: [encoding: string, mark: Buffer][] = [
  ['utf-8', Buffer.from([0xef, 0xbb, 0xbf])],
  ['utf-16le', Buffer.from([0xff, 0xfe])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
];

/** `label`: one that `isReadable`. A byte order mark counts more. UTF-8 goes through as it is: it is judged row by row. */
export async function* inUtf8(bytes: AsyncIterable<Buffer>, label = 'utf-8'): AsyncGenerator<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  let decode: ((chunk?: Buffer) => Buffer) | undefined;
  for await (const chunk of bytes) {
    let piece = chunk;
    if (start) {
      piece = Buffer.concat([start, chunk]);
      if (piece.length < 3) {
        start = piece;
        continue;
      }
      start = undefined;
      decode = decoderOf(piece, label);
    }
    yield decode ? decode(piece) : piece;
  }
  if (start && start.length > 0) {
    decode = decoderOf(start, label);
    yield decode ? decode(start) : start;
  }
  if (decode) yield decode();
}

function decoderOf(start: Buffer, label: string): ((chunk?: Buffer) => Buffer) | undefined {
  const marked = marks.find(([, mark]) => start.subarray(0, mark.length).equals(mark))?.[0];
  const encoding = marked ?? encodingOf(label) ?? 'utf-8';
  if (encoding === 'utf-8') return undefined;
  const decoder = new TextDecoder(encoding, { fatal: true });
  return (chunk) => {
    try {
      return Buffer.from(chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode());
    } catch (error) {
      throw new Unreadable(`the file is not ${encoding}`, { cause: error });
    }
  };
}
