/** Figures: taken in turns and shown in a table; what storing records takes, in time and in CPU time of each process. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Advice } from '../stack/advice.ts';
import { root } from '../stack/paths.ts';
import { lastLines, runCommand } from '../stack/tether.ts';

/** A figure, with its reference where it has one. */
export interface Row {
  name: string;
  unit: string;
  figure: number;
  reference?: number;
  /** the median of the rounds' own ratios of figure to reference */
  ratio?: number;
}

/** What one round gives, by name. */
export type Figures = Record<string, { value: number; unit: string }>;
export type Round = () => Promise<Figures>;

interface Sides {
  figure: Round;
  reference?: Round | undefined;
}

/** A row for each name that the figure has. Every other round begins with the figure, so that neither side profits. */
export async function inTurns(rounds: number, sides: Sides): Promise<Row[]> {
  const { figure, reference = async () => ({}) } = sides;
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
    if (Number.isNaN(beside)) return row;
    const ratio = median(pairs.map(([one, other]) => of(other) / of(one)));
    return { ...row, reference: beside, ratio };
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

/** `heads`: what the figure and its reference are called; `targets`: of some names, in words. */
export function table(
  rows: Row[],
  heads: [figure: string, reference: string],
  targets: Record<string, string>,
): string {
  const cells = ({ name, figure, unit, reference, ratio }: Row) => [
    ...[name, short(figure), unit, reference === undefined ? '' : short(reference)],
    ...[ratio?.toFixed(2) ?? '', targets[name] ?? ''],
  ];
  const lines = [['name', heads[0], 'unit', heads[1], 'ratio', 'target'], ...rows.map(cells)];
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  // numbers to the right
  const pad = (cell: string, at: number) =>
    (at % 2 === 1 || at === 4 ? cell.padStart : cell.padEnd).call(cell, widths[at] ?? 0);
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}

/** Three digits are enough; of thousands all are shown. */
const short = (value: number): string =>
  Math.abs(value) >= 100 || Number.isInteger(value) ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3);

export type Look = ReturnType<typeof look>;

/** `pids`: of the processes, by their names in the table. */
export const look = (stored: number, pids: Record<string, number>) => ({
  stored,
  at: performance.now(),
  used: Object.entries(pids).map(([process, pid]) => ({ process, time: cpuTime(pid) })),
});

/** What was stored over these spans of time: records a second, and the CPU time that each took. */
export function figuresOver(name: string, ...spans: [first: Look, last: Look][]): Figures {
  const sum = (of: (look: Look) => number) => spans.reduce((sum, [first, last]) => sum + of(last) - of(first), 0);
  const stored = sum((each) => each.stored);
  const used = spans[0]?.[0].used ?? [];
  return {
    [name]: { value: (stored / sum(({ at }) => at)) * 1_000, unit: 'records/s' },
    ...Object.fromEntries(
      used.map(({ process }, at) => {
        const value = sum((each) => each.used[at]?.time ?? 0) / stored;
        return [`${name}: ${process}`, { value, unit: 'µs CPU' }];
      }),
    ),
  };
}

/** Microseconds of CPU time of a process and its children, including those that have ended. */
export function cpuTime(pid: number): number {
  const { ticks = 0, ofEnded = 0 } = read(pid) ?? {};
  const processes = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  const children = processes.map((entry) => read(Number(entry))).filter((each) => each?.parent === pid);
  // a tick is a hundredth of a second
  return children.reduce((sum, child) => sum + (child?.ticks ?? 0), ticks + ofEnded) * 10_000;
}

/** proc_pid_stat(5); undefined for a process that has ended. */
function read(pid: number): { parent: number; ticks: number; ofEnded: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // the program's name before it may hold anything
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const field = (number: number) => Number(fields[number - 3]);
    return { parent: field(4), ticks: field(14) + field(15), ofEnded: field(16) + field(17) };
  } catch {
    return undefined;
  }
}

interface Comparison {
  /** the folders of both checkouts; default: `own` is this one */
  own?: string;
  other: string;
  /** of the bench: names of measurements, and its options */
  args: string[];
  /** runs of each bench */
  rounds: number;
  signal: AbortSignal;
}

/** What a bench writes down, as far as it is read here; a figure that was not taken is null in JSON. */
interface Results {
  rows: { name: string; unit: string; figure: number | null; ratio?: number | null }[];
}

/** The own figures, with the other's as their references. */
export function compare({ own = root, other, args, rounds, signal }: Comparison): Promise<Row[]> {
  const of = (checkout: string) => () => benchOf(checkout, args, signal);
  return inTurns(rounds, { figure: of(own), reference: of(other) });
}

/** The figures of one run of a checkout's own bench, and what each is of its reference. */
async function benchOf(checkout: string, args: string[], signal: AbortSignal): Promise<Figures> {
  const file = path.join(checkout, '.data/bench.json');
  rmSync(file, { force: true });
  const started = performance.now();
  const { code, output } = await runCommand(process.execPath, ['scripts/run.mjs', 'bench', ...args], {
    cwd: checkout,
    env: process.env,
    signal,
    // it stops its stores first
    stopSignal: 'SIGINT',
    stopDeadlineMs: 30_000,
  });
  if (code !== 0) throw new Advice(`the bench of ${checkout} failed:\n${lastLines(output)}`);
  console.log(`${checkout}  ${((performance.now() - started) / 1_000).toFixed(0)} s`);
  const { rows }: Results = JSON.parse(readFileSync(file, 'utf8'));
  return Object.fromEntries(
    rows.flatMap(({ name, unit, figure, ratio }) => [
      [name, { value: figure ?? Number.NaN, unit }],
      ...(ratio === undefined || ratio === null ? [] : [[`${name} ÷ reference`, { value: ratio, unit: '' }]]),
    ]),
  );
}
