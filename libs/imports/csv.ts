/**
 * CSV (RFC 4180). Read here, since a row with broken quotes must cost that row alone, memory must stay bounded, and the
 * parsers of npm go through a file character by character: a process that also records cannot spend that.
 */
import { isUtf8 } from 'node:buffer';
import { importLimits } from '#libs/contract/import';
import { inPieces } from './pieces.ts';
import { type Row, type Rows, requireUtf8, Unreadable } from './rows.ts';

export interface CsvOptions {
  /** one character; default `,` */
  delimiter?: string;
  /** makes fields of a row's cells; default: cells are named by the header */
  fieldsOf?: (header: string[]) => (cells: string[]) => Record<string, unknown>;
}

/** Columns that hold what is not text. */
const parsed = new Set(['preferences', 'metadata']);
const booleans = new Set(['gpc', 'bot']);

export async function* readCsv(
  bytes: AsyncIterable<Buffer>,
  { delimiter = ',', fieldsOf = byName }: CsvOptions = {},
): Rows {
  let toFields: ((cells: string[]) => Record<string, unknown>) | undefined;
  let width = 0;
  let row = 0;
  for await (const records of readRecords(bytes, delimiter)) {
    const rows: Row[] = [];
    for (const { cells, broken, text } of records) {
      if (!toFields) {
        if (broken) throw new Unreadable(`the header cannot be read: ${broken}`);
        toFields = fieldsOf(cells);
        width = cells.length;
        continue;
      }
      row += 1;
      const wrong = broken ?? (cells.length === width ? undefined : `the row has ${cells.length} cells, not ${width}`);
      if (wrong) rows.push({ row, refusal: { code: 'invalid_request', detail: wrong }, text });
      else rows.push({ row, given: toFields(cells.map(withoutQuote)), text });
    }
    if (rows.length > 0) yield rows;
  }
}

function byName(header: string[]): (cells: string[]) => Record<string, unknown> {
  requireDistinct(header);
  return (cells) => toValues(header.map((name, at) => [name, cells[at] ?? '']));
}

export function requireDistinct(names: string[]): void {
  const twice = names.find((name, at) => name !== '' && names.indexOf(name) !== at);
  if (twice !== undefined) throw new Unreadable(`two columns are ${JSON.stringify(twice)}`);
}

/** Empty cells are absent. */
export function toValues(cells: (readonly [field: string, cell: string])[]): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const [field, cell] of cells) {
    if (cell !== '' && field !== '__proto__') given[field] = toValue(field, cell);
  }
  return given;
}

function toValue(field: string, cell: string): unknown {
  if (booleans.has(field)) return /^(true|false)$/i.test(cell) ? cell.toLowerCase() === 'true' : cell;
  if (!parsed.has(field)) return cell;
  try {
    return JSON.parse(cell);
  } catch {
    return cell;
  }
}

/** The `'` that exports put before what a spreadsheet would run. */
const withoutQuote = (cell: string): string => (/^'[=+\-@\t\r']/.test(cell) ? cell.slice(1) : cell);

interface CsvRecord {
  cells: string[];
  /** what is wrong with it */
  broken?: string;
  text: string;
}

/**
 * In Latin-1, a character a byte: delimiters are found without decoding, and only cells that are not ASCII are decoded.
 * After a row with broken quotes reading goes on at the next line.
 */
async function* readRecords(bytes: AsyncIterable<Buffer>, delimiter: string): AsyncGenerator<CsvRecord[]> {
  let rest = '';
  let isStart = true;
  let isTooLong = false;
  const takeAll = (isEnd: boolean): CsvRecord[] => {
    const records: CsvRecord[] = [];
    let from = 0;
    while (from < rest.length) {
      if (isTooLong) {
        const end = rest.indexOf('\n', from);
        if (end === -1) {
          from = rest.length;
          break;
        }
        isTooLong = false;
        from = end + 1;
        continue;
      }
      const scanned = scan(rest, from, delimiter, isEnd);
      if (!scanned) {
        if (rest.length - from <= importLimits.rowBytes) break;
        // a line that long, or a quote that nothing closes
        const line = rest.indexOf('\n', from);
        isTooLong = line === -1;
        records.push({ cells: [], broken: rowTooLong, text: '' });
        from = line === -1 ? rest.length : line + 1;
        continue;
      }
      const text = rest.slice(from, scanned.end).trimEnd();
      if (text !== '') records.push(toRecord(scanned, text));
      from = scanned.end;
    }
    rest = rest.slice(from);
    return records;
  };
  for await (const chunk of inPieces(bytes)) {
    rest += chunk.toString('latin1');
    if (isStart && rest.length < 3) continue;
    if (isStart) rest = begin(rest);
    isStart = false;
    const records = takeAll(false);
    if (records.length > 0) yield records;
  }
  if (isStart) rest = begin(rest);
  const last = takeAll(true);
  if (last.length > 0) yield last;
}

const rowTooLong = `the row is longer than ${importLimits.rowBytes / 1024} KiB, or a quote in it is not closed`;
const mark = '\u00ef\u00bb\u00bf';

/** Without a byte order mark. */
function begin(text: string): string {
  requireUtf8(Buffer.from(text.slice(0, 2), 'latin1'));
  return text.startsWith(mark) ? text.slice(mark.length) : text;
}

function toRecord({ cells, broken }: Scanned, text: string): CsvRecord {
  if (text.length > importLimits.rowBytes) return { cells: [], broken: rowTooLong, text: '' };
  if (broken) return { cells: [], broken, text: isAscii(text) ? text : '' };
  if (isAscii(text)) return { cells, text };
  const decoded = Buffer.from(text, 'latin1');
  if (!isUtf8(decoded)) return { cells: [], broken: 'the row is not UTF-8', text: '' };
  return {
    cells: cells.map((cell) => (isAscii(cell) ? cell : Buffer.from(cell, 'latin1').toString('utf8'))),
    text: decoded.toString('utf8'),
  };
}

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

interface Scanned {
  cells: string[];
  broken?: string;
  /** where the next row begins */
  end: number;
}

/** The row that begins at `from`; undefined where the text ends before it does. */
function scan(text: string, from: number, delimiter: string, isEnd: boolean): Scanned | undefined {
  const cells: string[] = [];
  let at = from;
  for (;;) {
    if (text[at] === '"') {
      const quoted = scanQuoted(text, at);
      if (!quoted) return isEnd ? skipLine(text, from, 'a quote is not closed') : undefined;
      if (quoted.end >= text.length && !isEnd) return undefined;
      cells.push(quoted.cell);
      at = quoted.end;
      if (text[at] === '\r') at += 1;
      if (at >= text.length) return isEnd ? { cells, end: at } : undefined;
      if (text[at] === '\n') return { cells, end: at + 1 };
      if (text[at] !== delimiter) return skipLine(text, from, 'text follows a closing quote');
      at += 1;
      continue;
    }
    const line = indexOrEnd(text, '\n', at);
    if (line === text.length && !isEnd) return undefined;
    // the rest of this line, up to the next cell in quotes
    for (;;) {
      const next = text.indexOf(delimiter, at);
      if (next === -1 || next >= line) {
        const cell = text.slice(at, line);
        if (cell.includes('"')) return skipLine(text, from, strayQuote);
        cells.push(cell.endsWith('\r') ? cell.slice(0, -1) : cell);
        return { cells, end: Math.min(text.length, line + 1) };
      }
      const cell = text.slice(at, next);
      if (cell.includes('"')) return skipLine(text, from, strayQuote);
      cells.push(cell);
      at = next + 1;
      if (text[at] === '"') break;
    }
  }
}

const strayQuote = 'a quote stands in the middle of a cell';

function scanQuoted(text: string, from: number): { cell: string; end: number } | undefined {
  let cell = '';
  let start = from + 1;
  for (;;) {
    const quote = text.indexOf('"', start);
    if (quote === -1) return undefined;
    if (text[quote + 1] !== '"') return { cell: cell + text.slice(start, quote), end: quote + 1 };
    cell += text.slice(start, quote + 1);
    start = quote + 2;
  }
}

const skipLine = (text: string, from: number, broken: string): Scanned => ({
  cells: [],
  broken,
  end: Math.min(text.length, indexOrEnd(text, '\n', from) + 1),
});

function indexOrEnd(text: string, wanted: string, from: number): number {
  const found = text.indexOf(wanted, from);
  return found === -1 ? text.length : found;
}
