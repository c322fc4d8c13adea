/** A cell of the CSV that the service writes (RFC 4180), safe to open in a spreadsheet. */

/**
 * What a spreadsheet takes for the beginning of a formula, also behind a line feed and in full width. `'` is one of
 * them, in order that the mark can be taken off again. `csv_cell` in Postgres does the same.
 */
const formula = "[=+\\-@\\t\\r\\n'＝＋－＠]";
/**
 * In many countries a spreadsheet splits lines at semicolons, and then knows no quotes that begin elsewhere: what follows a
 * semicolon, a tab, a bar or a line break may become a cell.
 */
const split = '[;\\t|\\r\\n][" \\t\\r\\n]*';
const beginsFormula = new RegExp(`^${formula}`);
const isMarked = new RegExp(`^'${formula}`);
const formulas = new RegExp(`(${split})(?=${formula})`, 'g');
const marks = new RegExp(`(${split})'(?=${formula})`, 'g');

/** With `'` before what a spreadsheet would run, and quotes where they are needed. */
export function csvCell(text: string): string {
  const safe = `${beginsFormula.test(text) ? "'" : ''}${text.replace(formulas, "$1'")}`;
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Takes each `'` off again that exports put there. `cell`: without its quotes. */
export const withoutMark = (cell: string): string => (isMarked.test(cell) ? cell.slice(1) : cell).replace(marks, '$1');
