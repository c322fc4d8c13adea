/** CSV as the service writes it (RFC 4180): what a spreadsheet would take for a formula has an apostrophe before it. */
import { csvCell } from '#libs/base/terms/csv';

type Cell = string | number | null | undefined;

export const toCsv = (rows: readonly (readonly Cell[])[]): string =>
  rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');

function cell(value: Cell): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  return csvCell(value);
}
