/** The groups as CSV: what their table shows, with codes beside names, and rates as shares from 0 to 1. */
import type { Dimension } from '#libs/base/terms/terms';
import { decisions } from '../data/decisions.ts';
import { isShown, type Row } from '../data/groups.ts';
import { toCsv } from './csv.ts';

export function groupCsv(by: Dimension, rows: readonly Row[], hasBefore: boolean): string {
  const isCategory = by === 'category';
  const hasDisplays = rows.some(isShown);
  const rate = isCategory ? 'allowedRate' : 'optInRate';
  const head = [
    by,
    'code',
    'decisions',
    ...(isCategory ? [] : [...decisions, 'choices']),
    rate,
    ...(hasBefore ? [`${rate}Before`] : []),
    ...(hasDisplays ? ['displays', 'noChoiceRate'] : []),
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
      ...(hasDisplays ? [row.displays, row.noChoiceRate] : []),
    ]),
  ]);
}
