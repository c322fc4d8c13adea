/** Two checkouts beside each other: each measures itself, with the bench that it has, in turns. */
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Advice } from '../stack/advice.ts';
import { lastLines, runCommand } from '../stack/command.ts';
import { root } from '../stack/paths.ts';
import { type Figures, inTurns, type Row } from './figures.ts';

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
    ...{ cwd: checkout, env: process.env, signal },
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
