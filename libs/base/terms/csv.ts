/** A cell of the CSV that the service writes (RFC 4180), safe to open in a spreadsheet. */

/**
 * Characters with which a spreadsheet formula begins, also after a line feed and in full width. `'` counts, too: a cell
 * that already begins with `'` before a formula gets another one, so that removing ours restores it. `csv_cell` in Postgres
 * does the same.
 */
const formula = "[=+\\-@\\t\\r\\n'＝＋－＠]";
/**
 * In many countries a spreadsheet splits lines at semicolons and ignores quotes inside a cell: the text after a semicolon,
 * a tab, a bar or a line break may become a cell.
 */
const split = '[;\\t|\\r\\n][" \\t\\r\\n]*';
const beginsFormula = new RegExp(`^${formula}`);
const isMarked = new RegExp(`^'${formula}`);
const formulas = new RegExp(`(${split})(?=${formula})`, 'g');
const marks = new RegExp(`(${split})'(?=${formula})`, 'g');

/** Puts `'` before what a spreadsheet would execute, and adds quotes if needed. */
export function csvCell(text: string): string {
  const safe = `${beginsFormula.test(text) ? "'" : ''}${text.replace(formulas, "$1'")}`;
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Removes the marks that exports add. `cell`: without its quotes. */
export const withoutMark = (cell: string): string => (isMarked.test(cell) ? cell.slice(1) : cell).replace(marks, '$1');
