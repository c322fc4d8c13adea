/**
 * Cuts a CSV file into records, whose cells csv-parse reads. Cut here, since csv-parse alone loses the rest of a file
 * after a broken quote, and since ids are made of the text of a row.
 *
 * A record ends at the first line break after an even number of quotes. Where csv-parse refuses one, and `readEscaped`
 * too, its first line is refused, and reading continues at the second. A row of ten columns costs 11 µs, of which a
 * parser of our own would save 8.
 */
import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse/sync';
import { createYield } from '#libs/base/event-loop';
import { importLimits } from './contract.ts';
import { inPieces, requireUtf8 } from './rows.ts';

interface CsvRecord {
  cells: string[];
  /** what is wrong with it */
  broken?: string;
  /** as it stands in the file, without white space at its end */
  text: string;
}

/** Replaces a cell whose text is not known. It breaks the rule of every field. */
export const unreadable = '\0';

const quote = 0x22;
const backslash = 0x5c;
const newline = 0x0a;
const carriageReturn = 0x0d;
const mark = Buffer.from('\ufeff');
/** of a record with its line break, in bytes */
const longest = importLimits.rowBytes + 2;
/** records that csv-parse reads at once: those after a broken one are read again */
const batch = 200;

interface Form {
  delimiter: string;
  /** the byte that ends a record, perhaps after a carriage return */
  lineEnd: number;
}

/** Excel for Mac ends lines with a carriage return alone: then the first one outside quotes has no line feed behind it. */
function lineEndOf(start: Buffer): number {
  let isQuoted = false;
  for (const [at, byte] of start.entries()) {
    if (byte === quote) isQuoted = !isQuoted;
    if (isQuoted || (byte !== newline && byte !== carriageReturn)) continue;
    return byte === carriageReturn && at + 1 < start.length && start[at + 1] !== newline ? carriageReturn : newline;
  }
  return newline;
}

/** A first line for Excel, `sep=;`, which says the delimiter, and is none of the table. */
const separator = /^sep=([^\r\n"])(?:\r\n|\r|\n)/i;

interface CsvPiece {
  records: CsvRecord[];
  /** the file's own, where it says one */
  delimiter: string;
}

/** Those of a piece of the file at a time; blank lines are left out. */
export async function* readCsvRecords(bytes: AsyncIterable<Buffer>, delimiter: string): AsyncGenerator<CsvPiece> {
  let rest: Buffer | undefined;
  let form: Form | undefined;
  for await (const chunk of inPieces(bytes)) {
    let piece: Buffer = rest ? Buffer.concat([rest, chunk]) : withoutMark(chunk);
    if (!form) {
      const [line = '', said = delimiter] = separator.exec(piece.toString('latin1', 0, 7)) ?? [];
      piece = piece.subarray(line.length);
      form = { delimiter: said, lineEnd: lineEndOf(piece) };
    }
    const { records, end } = await take(piece, form, false);
    // of a line that is too long, no more than shows that it is
    rest = piece.subarray(end, end + longest);
    if (records.length > 0) yield { records, delimiter: form.delimiter };
  }
  if (!rest || !form) return;
  const { records } = await take(Buffer.concat([rest, Buffer.of(form.lineEnd)]), form, true);
  yield { records, delimiter: form.delimiter };
}

function withoutMark(start: Buffer): Buffer {
  requireUtf8(start);
  return start.subarray(0, mark.length).equals(mark) ? start.subarray(mark.length) : start;
}

/** The records of a piece, and where the one begins that is not all there yet. */
async function take(piece: Buffer, form: Form, isLast: boolean): Promise<{ records: CsvRecord[]; end: number }> {
  const records: CsvRecord[] = [];
  let from = 0;
  const yieldNow = createYield();
  for (;;) {
    const ends = recordEnds(piece, from, form.lineEnd);
    const read = parseUntilBroken(piece.subarray(from, ends.at(-1) ?? from), form);
    for (const [index, cells] of read.entries()) {
      const end = ends[index] ?? from;
      records.push(toRecord(piece.subarray(from, end), cells));
      from = end;
    }
    // to refuse a row takes csv-parse some 60 µs
    await yieldNow();
    if (read.length === batch) continue;
    if (read.length === ends.length && !isLast && piece.length - from <= longest) break;
    const escaped = readEscaped(piece, from, form);
    if (escaped) {
      records.push(toRecord(piece.subarray(from, escaped.end), escaped.cells));
      from = escaped.end;
      continue;
    }
    const line = piece.indexOf(form.lineEnd, from);
    if (line === -1) break;
    records.push(toBroken(piece.subarray(from, line + 1)));
    from = line + 1;
  }
  return { records: records.filter(({ text, broken }) => broken || text !== ''), end: from };
}

/** Of a batch, or up to a record that is too long. */
function recordEnds(piece: Buffer, from: number, lineEnd: number): number[] {
  const ends: number[] = [];
  let start = from;
  let isQuoted = false;
  for (let at = from; at < piece.length && ends.length < batch; at += 1) {
    if (piece[at] === quote) isQuoted = !isQuoted;
    if (piece[at] !== lineEnd || isQuoted) continue;
    if (at + 1 - start > longest) break;
    start = at + 1;
    ends.push(start);
  }
  return ends;
}

/** The cells of each record, up to the first that is broken. */
function parseUntilBroken(bytes: Buffer, { delimiter, lineEnd }: Form): string[][] {
  const read: string[][] = [];
  try {
    parse(bytes, {
      delimiter,
      record_delimiter: lineEnd === newline ? ['\r\n', '\n'] : ['\r'],
      relax_column_count: true,
      on_record: (cells: string[]) => {
        read.push(cells);
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
  }
  return read;
}

/**
 * A record that escapes quotes by backslashes; undefined if it is none. In PHP's `fputcsv` the backslash is part of the
 * text, in MySQL and Spark it is not, so the text of such a cell is not known.
 */
function readEscaped(piece: Buffer, from: number, form: Form): { cells: string[]; end: number } | undefined {
  let isQuoted = false;
  for (let at = from; at < piece.length && at - from < longest; at += 1) {
    if (piece[at] === quote && piece[at - 1] !== backslash) isQuoted = !isQuoted;
    if (piece[at] !== form.lineEnd || isQuoted) continue;
    const doubled = piece.toString('latin1', from, at + 1).replaceAll('\\"', '\\""');
    const [cells] = parseUntilBroken(Buffer.from(doubled, 'latin1'), form);
    return cells && { cells: cells.map((cell) => (cell.includes('\\"') ? unreadable : cell)), end: at + 1 };
  }
  return undefined;
}

/**
 * Which cells of a record of an export, with commas, are an empty text in quotes. None are where the id is in quotes, too:
 * then another program has written the row, and has put all cells in quotes.
 */
export function emptyTexts(record: string): number[] {
  if (record.startsWith('"')) return [];
  if (!/(?:^|,)""(?:,|$)/.test(record)) return [];
  const found: number[] = [];
  parse(record, {
    relax_column_count: true,
    cast: (cell, { quoting, index }) => {
      if (quoting && cell === '' && typeof index === 'number') found.push(index);
      return cell;
    },
  });
  return found;
}

function toRecord(bytes: Buffer, cells: string[]): CsvRecord {
  if (isUtf8(bytes)) return { cells, text: textOf(bytes) };
  return { cells: [], broken: 'the row is not UTF-8: give the encoding of the file', text: '' };
}

function toBroken(line: Buffer): CsvRecord {
  const most = `${importLimits.rowBytes / 1024} KiB`;
  if (line.length > longest) return { cells: [], broken: `the row is longer than ${most}`, text: '' };
  const broken = `the quotes are broken: one is not closed within ${most}, or stands inside a cell`;
  return { cells: [], broken, text: isUtf8(line) ? textOf(line) : '' };
}

function textOf(bytes: Buffer): string {
  let end = bytes.length;
  while (isSpace(bytes[end - 1])) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** Of ASCII alone, since it is part of what ids are made of. */
const isSpace = (byte = 0): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
