/** `npm run bench [-- NAME… | --quick | --list | --against DIR]`: measures figures together with their references. */
import { writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { compare, inTurns, type Row, table } from './bench/figures.ts';
import { quick, whole } from './bench/measurement.ts';
import { banner } from './bench/measurements/banner.ts';
import { cost } from './bench/measurements/cost.ts';
import { current } from './bench/measurements/current.ts';
import { disk } from './bench/measurements/disk.ts';
import { pages, stats } from './bench/measurements/reading.ts';
import { accept, drain, sustain } from './bench/measurements/recording.ts';
import { seal } from './bench/measurements/seal.ts';
import { tenants } from './bench/measurements/tenants.ts';
import { widget } from './bench/measurements/widget.ts';
import { startBench } from './bench/stack.ts';
import { Advice, explain } from './stack/advice.ts';
import { ensureDataRoot } from './stack/paths.ts';
import { onInterrupt, stopAtInterrupt } from './stack/private-stores.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean' }, list: { type: 'boolean' }, against: { type: 'string' } },
});
/** The checkout to compare with; both are measured alternately. */
const other = values.against === undefined ? undefined : path.resolve(values.against);
const scale = values.quick ? quick : whole;
const all = [accept, sustain, drain, stats, current, disk, seal, pages, tenants, cost, banner, widget];
const machine = `${os.cpus().length} × ${os.cpus()[0]?.model.trim()}, Node ${process.versions.node}`;
const signal = onInterrupt();

/** the bare statement is the reference of `drain` and a part of `disk`; statistics by dimension are counted beside sealing */
const within: Record<string, string> = { persist: 'disk', facets: 'seal' };
const names = [...new Set(positionals.map((name) => within[name] ?? name))];
const list = all.map(({ name, about }) => `${name.padEnd(9)}${about}`).join('\n');
const unknown = names.filter((name) => !all.some((each) => each.name === name));
if (unknown.length > 0) throw new Advice(`no measurement ${unknown.join(', ')}; there are\n${list}`);
const failed: string[] = [];
if (values.list) {
  console.log(list);
} else {
  const args = [...(values.quick ? ['--quick'] : []), ...names];
  const measured = other === undefined ? measure() : compare({ other, args, rounds: scale.rounds, signal });
  // after an interrupt a measurement fails because its servers stop
  await measured.then(report).catch((error) => {
    if (!signal.aborted) throw error;
    process.exitCode = 1;
  });
}

async function measure(): Promise<Row[]> {
  console.log(machine);
  const stack = await stopAtInterrupt(signal, startBench(signal));
  const rows: Row[] = [];
  for (const each of all.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const started = performance.now();
    try {
      await stack.reset();
      const reference = await each.reference?.(stack, scale);
      const figure = await each.figure(stack, scale);
      rows.push(...(await inTurns(scale.rounds, { reference, figure })));
    } catch (error) {
      signal.throwIfAborted();
      failed.push(each.name);
      console.error(`${each.name} failed: ${explain(error)}`);
    }
    console.log(`${each.name.padEnd(9)}${((performance.now() - started) / 1_000).toFixed(0).padStart(4)} s`);
  }
  await stack.stop();
  return rows;
}

function report(rows: Row[]): void {
  const targets: Record<string, string> = Object.assign({}, ...all.map((each) => each.targets));
  console.log(`\n${table(rows, other === undefined ? ['figure', 'reference'] : ['here', 'there'], targets)}`);
  if (failed.length > 0) console.log(`failed: ${failed.join(', ')}`);
  const results = { at: new Date(), machine, other, scale, rows, failed };
  writeFileSync(path.join(ensureDataRoot(), 'bench.json'), `${JSON.stringify(results, null, 2)}\n`);
  // machines are noisy, so a missed target fails nothing; a lost or duplicated record does
  if (failed.length > 0) process.exitCode = 1;
}
