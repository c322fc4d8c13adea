/** `npm run bench [-- NAME… | --quick | --list]`: figures beside their references, measured in one run. */
import { writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { loadTool } from './bench/load.ts';
import type { Measurement, Row, Scale } from './bench/measurement.ts';
import { measurements, quick, whole } from './bench/measurements.ts';
import { type Bench, startBench } from './bench/stack.ts';
import { table } from './bench/table.ts';
import { takeLock } from './lock.mjs';
import { tell } from './stack/advice.ts';
import { dataRoot, ensureDataRoot } from './stack/paths.ts';

/** of one measurement in `--quick` */
const attempts = 4;

const words = process.argv.slice(2);
const isQuick = words.includes('--quick');
const names = words.filter((word) => !word.startsWith('--'));
const unknown = [
  ...names.filter((name) => !measurements.some((each) => each.name === name)),
  ...words.filter((word) => word.startsWith('--') && !['--quick', '--list'].includes(word)),
];

if (words.includes('--list')) {
  for (const { name, about, slow } of measurements) {
    console.log(`${name.padEnd(13)}${slow ? '      ' : 'quick '} ${about}`);
  }
} else if (unknown.length > 0) {
  console.error(`no measurement ${unknown.join(', ')}; there are ${measurements.map(({ name }) => name).join(', ')}`);
  process.exitCode = 1;
} else {
  // two at once would measure each other
  const release = takeLock(path.join(ensureDataRoot(), 'bench-lock'));
  if (release) {
    process.once('exit', release);
    const isChosen = ({ name, slow }: Measurement) => (names.length > 0 ? names.includes(name) : !(isQuick && slow));
    await run(measurements.filter(isChosen), isQuick ? quick : whole);
  } else {
    console.error('another bench is running in this checkout');
    process.exitCode = 1;
  }
}

async function run(chosen: Measurement[], scale: Scale): Promise<void> {
  const [processor] = os.cpus();
  const machine = `${os.cpus().length} × ${processor?.model.trim()}, Node ${process.versions.node}, load by ${loadTool}`;
  console.log(machine);
  const interruption = new AbortController();
  const starting = startBench({ say: console.log, signal: interruption.signal });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      interruption.abort();
      void starting
        .then((bench) => bench.stop())
        .catch(() => {})
        .finally(() => process.exit(130));
    });
  }
  const bench = await starting;
  const rows: Row[] = [];
  const failed: { name: string; error: string }[] = [];
  for (const measurement of chosen) {
    const started = performance.now();
    try {
      rows.push(...(await (isQuick ? performAgain : perform)(measurement, bench, scale)));
    } catch (error) {
      // what fails now fails because its servers go
      if (interruption.signal.aborted) return;
      failed.push({ name: measurement.name, error: tell(error) });
      console.error(`${measurement.name} failed: ${tell(error)}`);
    }
    console.log(`${measurement.name.padEnd(13)}${((performance.now() - started) / 1_000).toFixed(0).padStart(4)} s`);
  }
  await bench.stop();
  report({ machine, rows, failed });
}

async function perform(measurement: Measurement, bench: Bench, scale: Scale): Promise<Row[]> {
  try {
    return await measurement.run(bench, scale);
  } finally {
    await bench.reset();
  }
}

/** A quick look is short: what is far from its target is looked at again before it counts. */
async function performAgain(measurement: Measurement, bench: Bench, scale: Scale): Promise<Row[]> {
  for (let attempt = 1; ; attempt += 1) {
    const rows = await perform(measurement, bench, scale);
    const far = rows.filter(({ gross }) => gross);
    if (far.length === 0 || attempt === attempts) return rows;
    for (const { name, ratio, figure } of far)
      console.log(`${name} is far from its target (${(ratio ?? figure).toFixed(2)}); again`);
  }
}

function report({
  machine,
  rows,
  failed,
}: {
  machine: string;
  rows: Row[];
  failed: { name: string; error: string }[];
}) {
  console.log(`\n${table(rows)}`);
  for (const { name } of failed) console.log(`${name}  failed`);
  const results = { at: new Date(), machine, quick: isQuick, rows, failed };
  writeFileSync(path.join(dataRoot, 'bench.json'), `${JSON.stringify(results, null, 2)}\n`);
  // machines are noisy: only what is far from its target is a failure
  if (failed.length > 0 || rows.some((row) => row.gross)) process.exitCode = 1;
}
