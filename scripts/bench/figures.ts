/** Figures: taken in turns, judged by their targets, shown in a table. */

export interface Target {
  is: 'at least' | 'at most';
  /** of the ratio where there is one */
  value: number;
}

export const atLeast = (value: number): Target => ({ is: 'at least', value });
export const atMost = (value: number): Target => ({ is: 'at most', value });

/** A figure, with its reference where it has one. */
export interface Row {
  name: string;
  unit: string;
  figure: number;
  reference?: number;
  /** the median of the rounds' own ratios of figure to reference */
  ratio?: number;
  /** none: the figure is only reported */
  target?: Target;
  met?: boolean;
}

export function judge(row: Row, target: Target | undefined): Row {
  if (!target) return row;
  const value = row.ratio ?? row.figure;
  return { ...row, target, met: target.is === 'at least' ? value >= target.value : value <= target.value };
}

/** What one round gives, by name. */
export type Figures = Record<string, { value: number; unit: string }>;
export type Round = () => Promise<Figures>;

interface Sides {
  figure: Round;
  reference?: Round | undefined;
  targets?: Record<string, Target>;
}

/** A row for each name that the figure has. Every other round begins with the figure, so that neither side profits. */
export async function inTurns(rounds: number, sides: Sides): Promise<Row[]> {
  const { figure, reference = async () => ({}), targets = {} } = sides;
  const pairs: [reference: Figures, figure: Figures][] = [];
  for (let round = 0; round < rounds; round += 1) {
    const early = round % 2 === 1 ? await figure() : undefined;
    pairs.push([await reference(), early ?? (await figure())]);
  }
  const [, names = {}] = pairs[0] ?? [];
  return Object.entries(names).map(([name, { unit }]) => {
    const of = (figures: Figures) => figures[name]?.value ?? Number.NaN;
    const row = { name, unit, figure: median(pairs.map(([, each]) => of(each))) };
    const beside = median(pairs.map(([each]) => of(each)));
    if (Number.isNaN(beside)) return judge(row, targets[name]);
    const ratio = median(pairs.map(([one, other]) => of(other) / of(one)));
    return judge({ ...row, reference: beside, ratio }, targets[name]);
  });
}

const ascending = (values: number[]): number[] => [...values].sort((one, other) => one - other);

export function median(values: number[]): number {
  const sorted = ascending(values);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The smallest value that at least `share` of all values do not exceed; NaN of none. */
export const quantile = (values: number[], share: number): number =>
  ascending(values)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN;

const textColumns = new Set([0, 2, 5, 6]);

/** `heads`: what the figure and its reference are called. */
export function table(rows: Row[], heads: [figure: string, reference: string] = ['figure', 'reference']): string {
  const lines = [['name', heads[0], 'unit', heads[1], 'ratio', 'target', ''], ...rows.map(cells)];
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const pad = (cell: string, at: number) =>
    textColumns.has(at) ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0);
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}

function cells({ name, figure, unit, reference, ratio, target, met }: Row): string[] {
  return [
    name,
    short(figure),
    unit,
    reference === undefined ? '' : short(reference),
    ratio === undefined ? '' : ratio.toFixed(2),
    target ? `${ratio === undefined ? 'figure' : 'ratio'} ${target.is} ${target.value}` : '',
    target ? (met ? 'met' : 'not met') : '',
  ];
}

/** Three digits are enough; of thousands all are shown. */
const short = (value: number): string =>
  Math.abs(value) >= 100 || Number.isInteger(value) ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3);
