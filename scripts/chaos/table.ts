import type { Report } from './drill.ts';

const head = [
  'fault',
  'attempts',
  'ack',
  'refused',
  'unknown',
  'found',
  'lost',
  'doubled',
  'counters',
  'slowest',
  'heals in',
  '',
];

/** One line a drill. */
export function table(reports: Report[]): string {
  const rows = reports.map(({ name, verdict, secondsToHeal, breaches, skipped }) => {
    const end = skipped ?? (breaches.length === 0 ? 'held' : 'BROKEN');
    if (!verdict) return [name, ...Array<string>(10).fill('–'), end];
    const { attempts, acknowledged, refused, unknown, found, lost, doubled, differences, slowest } = verdict;
    const counts = [attempts, acknowledged, refused, unknown, found, lost, doubled, differences].map(String);
    return [name, ...counts, `${slowest} ms`, `${(secondsToHeal ?? 0).toFixed(1)} s`, end];
  });
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (cells: string[]) =>
    cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ');
  return [head, ...rows].map((cells) => line(cells).trimEnd()).join('\n');
}
