/** The table of groups as CSV, with codes beside names, and rates as shares from 0 to 1. */
import { csvCell } from '#libs/base/terms/csv';
import type { Dimension } from '#libs/base/terms/terms';
import { decisions } from '../data/decisions.ts';
import { hasDisplays, hasObjections, type Row } from '../data/group-rows.ts';

export function groupCsv(by: Dimension, rows: readonly Row[], hasBefore: boolean): string {
  const isCategory = by === 'category';
  const showsDisplays = rows.some(hasDisplays);
  const showsObjections = rows.some(hasObjections);
  const rate = isCategory ? 'allowedRate' : 'optInRate';
  const head = [
    by,
    'code',
    'decisions',
    ...(isCategory ? [] : [...decisions, 'choices']),
    rate,
    ...(hasBefore ? [`${rate}Before`] : []),
    ...(showsDisplays ? ['displays', 'noChoiceRate'] : []),
    ...(showsObjections ? ['objections'] : []),
  ];
  return toCsv([
    head,
    ...rows.map((row) => [
      row.name,
      row.value,
      row.count,
      ...(isCategory ? [] : [...decisions.map((name) => row.breakdown?.[name]), row.choices]),
      row.rate,
      ...(hasBefore ? [row.before?.rate] : []),
      ...(showsDisplays ? [row.displays, row.noChoiceRate] : []),
      ...(showsObjections ? [row.objections ?? 0] : []),
    ]),
  ]);
}

type Cell = string | number | null | undefined;

/**
 * Quotes a field like the service's exports (RFC 4180). An apostrophe disarms what a spreadsheet would run as a formula.
 */
export const toCsv = (rows: readonly (readonly Cell[])[]): string =>
  rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');

function cell(value: Cell): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  return csvCell(value);
}
