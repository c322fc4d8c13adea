/** The figures as people read them. */
import type { Row } from './measurement.ts';

const head = ['name', 'figure', 'unit', 'reference', 'ratio', 'target', ''];
const textColumns = new Set([0, 2, 5, 6]);

export function table(rows: Row[]): string {
  const lines = [head, ...rows.map(cells)];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  return lines
    .map((line) =>
      line
        .map((cell, at) => (textColumns.has(at) ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cells(row: Row): string[] {
  const { name, figure, unit, reference, ratio, target, met, note } = row;
  const sign = target?.is === 'at least' ? '≥' : '≤';
  const verdict = target ? `${met ? 'met' : 'not met'}` : 'report';
  return [
    name,
    short(figure),
    unit,
    reference === undefined ? '' : short(reference),
    ratio === undefined ? '' : ratio.toFixed(2),
    target ? `${target.of} ${sign} ${target.value}` : '',
    note ? `${verdict}: ${note}` : verdict,
  ];
}

/** Three digits tell enough; of thousands all are shown. */
const short = (value: number): string =>
  Math.abs(value) >= 100 || Number.isInteger(value) ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3);
