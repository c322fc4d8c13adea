/**
 * Reads a CSV record by record with csv-parse, which alone would lose the rest of the file after a broken record. Here only
 * the broken record's first line is rejected, unless `readEscaped` can read it, and reading goes on with the next line.
 *
 * A row of ten columns costs 11 µs, of which a parser of our own would save 8.
 */
import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse/sync';
import { createYield } from '#libs/base/event-loop';
import { importLimits } from './contract.ts';
import { inUtf8 } from './encodings.ts';

interface CsvRecord {
  cells: string[];
  /** what is wrong with it */
  broken?: string;
  /** as it is in the file, without white space at its end */
  text: string;
}

/** Replaces a cell whose text is not known. It breaks the rule of every field. */
export const unreadable = '\0';

const quote = 0x22;
const backslash = 0x5c;
const newline = 0x0a;
const carriageReturn = 0x0d;
/** of a record with its line break, in bytes */
const longest = importLimits.rowBytes + 2;
/** records that csv-parse reads before others have their turn */
const batch = 200;

interface Form {
  delimiter: string;
  /** the byte that ends a record, perhaps after a carriage return */
  lineEnd: number;
}

/** A first line for Excel, `sep=;`, which contains the delimiter and is not part of the table. */
const separator = /^sep=([^\r\n"])(?:\r\n|\r|\n)/i;
/** Excel for Mac ends lines with a carriage return alone: no line feed follows the first one outside quotes. */
const endsWithReturn = /^(?:"[^"]*"|[^"\r\n])*\r[^\n]/;

interface CsvPiece {
  records: CsvRecord[];
  /** the file's own, if its first line contains one */
  delimiter: string;
}

/** The records of one piece of the file at a time, without blank lines. */
export async function* readCsvRecords(
  bytes: AsyncIterable<Buffer>,
  { delimiter: usual, encoding }: { delimiter: string; encoding?: string | undefined },
): AsyncGenerator<CsvPiece> {
  let rest: Buffer = Buffer.alloc(0);
  let form: Form | undefined;
  for await (const chunk of inUtf8(bytes, encoding)) {
    let piece: Buffer = Buffer.concat([rest, chunk]);
    if (!form) {
      const [line = '', delimiter = usual] = separator.exec(piece.toString('latin1', 0, 7)) ?? [];
      piece = piece.subarray(line.length);
      const start = piece.toString('latin1', 0, longest);
      form = { delimiter, lineEnd: endsWithReturn.test(start) ? carriageReturn : newline };
    }
    const { records, end } = await take(piece, form, false);
    // a line that is too long is cut: what remains still shows that it is too long
    rest = piece.subarray(end, end + longest);
    yield { records, delimiter: form.delimiter };
  }
  if (!form) return;
  const { records } = await take(Buffer.concat([rest, Buffer.of(form.lineEnd)]), form, true);
  yield { records, delimiter: form.delimiter };
}

/** The records of a piece, and where the first incomplete one begins. */
async function take(piece: Buffer, form: Form, isLast: boolean): Promise<{ records: CsvRecord[]; end: number }> {
  const records: CsvRecord[] = [];
  let from = 0;
  const yieldNow = createYield();
  for (;;) {
    const read = parseUntilBroken(piece.subarray(from), form);
    const start = from;
    for (const { cells, end } of read) {
      records.push(toCsvRecord(piece.subarray(from, start + end), cells));
      from = start + end;
    }
    // csv-parse takes some 60 µs to refuse a row
    await yieldNow();
    if (read.length === batch) continue;
    // with fewer bytes than a row may have, a broken record looks like an incomplete one
    if (!isLast && piece.length - from <= longest) break;
    const escaped = readEscaped(piece, from, form);
    if (escaped) {
      records.push(toCsvRecord(piece.subarray(from, escaped.end), escaped.cells));
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

interface ParsedRecord {
  cells: string[];
  /** where it ends */
  end: number;
}

/** A batch of records, up to the first that is broken, incomplete or longer than `most` bytes. */
function parseUntilBroken(bytes: Buffer, { delimiter, lineEnd }: Form, most = longest): ParsedRecord[] {
  const read: ParsedRecord[] = [];
  try {
    parse(bytes, {
      delimiter,
      record_delimiter: lineEnd === newline ? ['\r\n', '\n'] : ['\r'],
      relax_column_count: true,
      to: batch,
      on_record: (cells: string[], { bytes: end }) => {
        if (bytes[end - 1] === lineEnd && end - (read.at(-1)?.end ?? 0) <= most) read.push({ cells, end });
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
function readEscaped(piece: Buffer, from: number, form: Form): ParsedRecord | undefined {
  let isQuoted = false;
  for (let at = from; at < piece.length && at - from < longest; at += 1) {
    if (piece[at] === quote && piece[at - 1] !== backslash) isQuoted = !isQuoted;
    if (piece[at] !== form.lineEnd || isQuoted) continue;
    const doubled = Buffer.from(piece.toString('latin1', from, at + 1).replaceAll('\\"', '\\""'), 'latin1');
    const [read] = parseUntilBroken(doubled, form, doubled.length);
    return read && { cells: read.cells.map((cell) => (cell.includes('\\"') ? unreadable : cell)), end: at + 1 };
  }
  return undefined;
}

/**
 * Which cells of a row of our own, comma-delimited export are an empty text in quotes. If the id is in quotes, too, another
 * program has written the row and quotes all cells, so none is.
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

function toCsvRecord(bytes: Buffer, cells: string[]): CsvRecord {
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

/** Only ASCII white space: ids are made of the rest. */
const isSpace = (byte = 0): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
