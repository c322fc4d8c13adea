/** What the table shows, with rates as shares from 0 to 1. */
import type { Dimension } from '#libs/contract/terms';
import { toCsv } from '../../data/csv.ts';
import { isShown, type Row } from '../../data/groups.ts';

export function csvOf(by: Dimension, rows: readonly Row[], hasBefore: boolean): string {
  const isCategory = by === 'category';
  const hasDisplays = rows.some(isShown);
  const rate = isCategory ? 'allowedRate' : 'optInRate';
  const head = [
    by,
    'decisions',
    ...(isCategory ? [] : ['choices']),
    rate,
    ...(hasBefore ? [`${rate}Before`] : []),
    ...(hasDisplays ? ['displays', 'noChoiceRate'] : []),
  ];
  return toCsv([
    head,
    ...rows.map((row) => [
      row.name,
      row.count,
      ...(isCategory ? [] : [row.choices]),
      row.rate,
      ...(hasBefore ? [row.before?.rate] : []),
      ...(hasDisplays ? [row.displays, row.noChoiceRate] : []),
    ]),
  ]);
}
