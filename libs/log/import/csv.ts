/** CSV (RFC 4180): the cells of a row become fields by the names in the header. */
import { withoutMark } from '#libs/base/terms/csv';
import { headers } from '../export/lines.ts';
import { emptyTexts, readCsvRecords, unreadable } from './csv-records.ts';
import { Unreadable } from './encodings.ts';
import { noRowsError, type Row, type Rows } from './rows.ts';

interface CsvOptions {
  /** one character; default `,` */
  delimiter?: string;
  /** one that `isReadable` */
  encoding?: string | undefined;
  /** makes a row's fields from its cells; default: the header names the cells. `delimiter`: the file's own */
  fieldsOf?: (header: string[], delimiter: string) => ToFields;
}

/** `text`: the row as it is in the file */
type ToFields = (cells: string[], text: string) => Record<string, unknown>;

/** Columns that contain JSON. */
const jsonColumns = new Set(['preferences', 'metadata']);
const booleans = new Set(['gpc', 'bot']);

/** Words for true and false in booleans and in columns of categories, in lower case. */
export const booleanWords = new Map<string, boolean>([
  ...['true', 't', '1', 'yes', 'y', 'on', 'accepted', 'granted', 'allowed'].map((word) => [word, true] as const),
  ...['false', 'f', '0', 'no', 'n', 'off', 'declined', 'rejected', 'denied'].map((word) => [word, false] as const),
]);

/** How databases, spreadsheets, R, Python and JavaScript write null. */
const nulls = new Set([
  ...['NULL', 'Null', 'null', '(null)', '(NULL)', '[NULL]', '<null>', '\\N', 'None', 'undefined'],
  ...['NA', 'N/A', '#N/A', 'NaN', 'nan'],
]);

/** A cell without the blanks around it; undefined if it stands for null. The country NA is Namibia. */
export function unlessNull(field: string, cell: string): string | undefined {
  const text = cell.trim();
  return nulls.has(text) && !(field === 'country' && text === 'NA') ? undefined : text;
}

export async function* readCsv(
  bytes: AsyncIterable<Buffer>,
  { delimiter: usual = ',', encoding, fieldsOf = byName }: CsvOptions = {},
): Rows {
  let toFields: ToFields | undefined;
  let isOwnExport = false;
  let width = 0;
  let row = 0;
  let hasBytes = false;
  for await (const { records, delimiter } of readCsvRecords(bytes, { delimiter: usual, encoding })) {
    hasBytes = true;
    const rows: Row[] = [];
    for (const { cells, broken, text } of records) {
      if (!toFields) {
        if (broken) throw new Unreadable(`the header cannot be read: ${broken}`);
        toFields = fieldsOf(cells, delimiter);
        width = cells.length;
        isOwnExport = isExport(cells);
        continue;
      }
      row += 1;
      const wrong =
        broken ?? (fits(cells, width) ? undefined : `the header has ${width} cells, the row ${cells.length}`);
      if (wrong) rows.push({ row, refusal: { code: 'invalid_request', detail: wrong }, text });
      else rows.push({ row, given: toFields(cells.map(withoutMark), text), text });
    }
    if (rows.length > 0) yield rows;
  }
  // an export of no records has its header
  if (row === 0 && hasBytes && !isOwnExport) throw noRowsError();
}

const ownHeader = headers.csv.trimEnd();
/** Exports of 0.1.0 have no region and no model. */
const exported = new Set([ownHeader, ownHeader.replace(',region,model', '')]);

const isExport = (header: string[]): boolean => exported.has(header.join(','));

/** Empty cells at the end mean nothing; if cells are missing, the row may be cut off. */
const fits = (cells: string[], width: number): boolean =>
  cells.length >= width && cells.slice(width).every((cell) => cell === '');

function byName(header: string[], delimiter: string): ToFields {
  const names = namesOf(header);
  requireColumn('decision', names, names);
  const named = (cells: string[]) => names.map((name, at) => [name, cells[at] ?? ''] as const);
  const foreign: ToFields = (cells) =>
    toValues(
      named(cells).map(([name, cell]) => {
        const text = unlessNull(name, cell);
        // ids are made of it, so blanks stay and rows of earlier imports remain known
        return [name, name === 'externalId' && text ? cell : text];
      }),
    );
  // with another delimiter another program has written it
  if (!isExport(header) || delimiter !== ',') return foreign;
  // in an export an empty text is in quotes, and an absent one is not
  return (cells, text) => {
    const given = named(cells);
    if (given.some(([name, cell]) => notText.has(name) && unlessNull(name, cell) === undefined))
      return foreign(cells, text);
    const empty = cells.includes(unreadable) ? [] : emptyTexts(text);
    return { ...toValues(given), ...Object.fromEntries(empty.map((at) => [names[at], ''])) };
  };
}

/** Columns of an export that cannot contain a word such as NULL, unless another program has written it. */
const notText = new Set(['gpc', 'country', 'notice', 'erasedAt', 'log', 'position', 'region', 'model']);

/** The names of the columns, without white space around them. */
export function namesOf(header: string[]): string[] {
  const names = header.map((name) => name.trim());
  const seen = new Set<string>();
  const twice = names.find((name) => name !== '' && seen.size === seen.add(name).size);
  if (twice !== undefined) throw new Unreadable(`two columns are ${JSON.stringify(twice)}`);
  return names;
}

/**
 * Refuses a file without this column, since no row can be valid. `fields`: what the columns are mapped to. `columns`: their
 * names in the file, for the message.
 */
export function requireColumn(field: string, fields: string[], columns: string[]): void {
  if (!fields.includes(field)) throw new Unreadable(`the file has no column ${field}; ${columnsOf(columns)}`);
}

export const columnsOf = (names: string[]): string =>
  `it has ${names
    .map((name) => JSON.stringify(name.slice(0, 64)))
    .slice(0, 50)
    .join(', ')}`;

/** Empty cells are absent. Cells that stand for null are present as undefined, so that the response can count them. */
export function toValues(cells: (readonly [field: string, cell: string | undefined])[]): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const [field, cell] of cells) {
    if (cell !== '' && field !== '__proto__') given[field] = cell && toValue(field, cell);
  }
  return given;
}

function toValue(field: string, cell: string): unknown {
  if (booleans.has(field)) return booleanWords.get(cell.toLowerCase()) ?? cell;
  if (!jsonColumns.has(field)) return cell;
  try {
    return JSON.parse(cell);
  } catch {
    return cell;
  }
}
