/** `npm run bench [-- NAME… | --quick | --list | --against DIR]`: figures beside their references, measured in one run. */
import { writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { compare } from './bench/compare.ts';
import { inTurns, type Row, table } from './bench/figures.ts';
import { quick, whole } from './bench/measurement.ts';
import { accept } from './bench/measurements/accept.ts';
import { capacity } from './bench/measurements/capacity.ts';
import { comparison } from './bench/measurements/comparison.ts';
import { cost } from './bench/measurements/cost.ts';
import { disk } from './bench/measurements/disk.ts';
import { drain } from './bench/measurements/drain.ts';
import { pages } from './bench/measurements/pages.ts';
import { seal } from './bench/measurements/seal.ts';
import { stats } from './bench/measurements/stats.ts';
import { sustain } from './bench/measurements/sustain.ts';
import { tenants } from './bench/measurements/tenants.ts';
import { widget } from './bench/measurements/widget.ts';
import { startBench } from './bench/stack.ts';
import { Advice, explain } from './stack/advice.ts';
import { onInterrupt, stopAtInterrupt } from './stack/interrupt.ts';
import { ensureDataRoot } from './stack/paths.ts';

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean' }, list: { type: 'boolean' }, against: { type: 'string' } },
});
/** The checkout to compare with, in turns. */
const other = values.against === undefined ? undefined : path.resolve(values.against);
const scale = values.quick ? quick : whole;
// the last leaves a hundred thousand organizations
const all = [accept, sustain, drain, stats, disk, seal, pages, tenants, capacity, cost, widget, comparison];
const machine = `${os.cpus().length} × ${os.cpus()[0]?.model.trim()}, Node ${process.versions.node}`;
const signal = onInterrupt();

const list = all.map(({ name, about }) => `${name.padEnd(11)}${about}`).join('\n');
const unknown = names.filter((name) => !all.some((each) => each.name === name));
if (unknown.length > 0) throw new Advice(`no measurement ${unknown.join(', ')}; there are\n${list}`);
if (values.list) {
  console.log(list);
} else {
  // what fails once we are asked to end fails because its servers go
  await (other === undefined ? measure() : measureBoth(other)).catch((error) => {
    if (!signal.aborted) throw error;
    process.exitCode = 1;
  });
}

async function measureBoth(checkout: string): Promise<void> {
  const args = [...(values.quick ? ['--quick'] : []), ...names];
  report(await compare({ other: checkout, args, rounds: scale.rounds, signal }), []);
}

async function measure(): Promise<void> {
  console.log(machine);
  const stack = await stopAtInterrupt(signal, startBench(signal));
  const rows: Row[] = [];
  const failed: string[] = [];
  for (const each of all.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const started = performance.now();
    try {
      await stack.reset();
      const reference = await each.reference?.(stack, scale);
      const figure = await each.figure(stack, scale);
      rows.push(...(await inTurns(scale.rounds, { reference, figure, targets: each.targets })));
    } catch (error) {
      signal.throwIfAborted();
      failed.push(each.name);
      console.error(`${each.name} failed: ${explain(error)}`);
    }
    console.log(`${each.name.padEnd(11)}${((performance.now() - started) / 1_000).toFixed(0).padStart(4)} s`);
  }
  await stack.stop();
  report(rows, failed);
}

function report(rows: Row[], failed: string[]): void {
  console.log(`\n${table(rows, other === undefined ? undefined : ['here', 'there'])}`);
  if (failed.length > 0) console.log(`failed: ${failed.join(', ')}`);
  const results = { at: new Date(), machine, other, scale, rows, failed };
  writeFileSync(path.join(ensureDataRoot(), 'bench.json'), `${JSON.stringify(results, null, 2)}\n`);
  // machines are noisy, so that a missed target alone fails nothing; a lost or doubled record does
  if (failed.length > 0) process.exitCode = 1;
}
