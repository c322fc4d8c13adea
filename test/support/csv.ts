import { parse } from 'csv-parse/sync';

/** Reads CSV as RFC 4180 has it, and nothing else, with a parser that is not ours. */
export function readCsv(text: string): { cells: string[]; quoted: boolean[] }[] {
  if (text !== '' && !text.endsWith('\r\n')) throw new Error('the last line has no end');
  const quoting: boolean[][] = [];
  const rows: string[][] = parse(text, {
    record_delimiter: '\r\n',
    cast: (cell, { quoting: isQuoted, records, index }) => {
      const row = quoting[records] ?? [];
      row[index] = isQuoted;
      quoting[records] = row;
      return cell;
    },
  });
  return rows.map((cells, row) => ({ cells, quoted: quoting[row] ?? [] }));
}
