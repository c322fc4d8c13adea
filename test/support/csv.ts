/** Reads CSV as RFC 4180 has it, and nothing else: what is not of that form is an error. */
export function readCsv(text: string): { cells: string[]; quoted: boolean[] }[] {
  const rows: { cells: string[]; quoted: boolean[] }[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  let row: { cells: string[]; quoted: boolean[] } = { cells: [], quoted: [] };
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex;
    const found = cell.exec(text);
    if (!found) throw new Error(`this is not CSV: ${JSON.stringify(text.slice(at, at + 80))}`);
    const [, quoted, bare = '', end] = found;
    row.cells.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
    row.quoted.push(quoted !== undefined);
    if (end === ',') continue;
    rows.push(row);
    row = { cells: [], quoted: [] };
  }
  if (row.cells.length > 0) throw new Error('the last line has no end');
  return rows;
}
