/** `npm run chaos [-- NAME… | --quick | --list]`: faults under load, and whether the promises held. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { type Drill, perform, type Report } from './chaos/drill.ts';
import { networkDrills } from './chaos/drills/network.ts';
import { postgresDrills } from './chaos/drills/postgres.ts';
import { processDrills } from './chaos/drills/processes.ts';
import { recordDrills } from './chaos/drills/records.ts';
import { redisDrills } from './chaos/drills/redis.ts';
import { table } from './chaos/table.ts';
import { build } from './stack/build.ts';
import { dataRoot, ensureDataRoot, root } from './stack/paths.ts';

/** Drills mostly wait, and each has a stack of its own. */
const atOnce = 2;

const drills: Drill[] = [...processDrills, ...redisDrills, ...postgresDrills, ...networkDrills, ...recordDrills];
const words = process.argv.slice(2);
const names = words.filter((word) => !word.startsWith('--'));
const unknown = names.filter((name) => !drills.some((drill) => drill.name === name));

if (words.includes('--list')) {
  for (const { name, about, quick } of drills) console.log(`${name.padEnd(30)}${quick ? 'quick ' : '      '} ${about}`);
} else if (unknown.length > 0) {
  console.error(`no drill ${unknown.join(', ')}; npm run chaos -- --list shows them`);
  process.exitCode = 1;
} else {
  await run(
    drills.filter(({ name, quick }) => (names.length > 0 ? names.includes(name) : quick || !words.includes('--quick'))),
  );
}

async function run(chosen: Drill[]): Promise<void> {
  ensureDataRoot();
  const dist = path.join(dataRoot, `chaos-build-${process.pid}`, 'dist');
  const reports = new Map<Drill, Report>();
  const waiting = [...chosen];
  let interrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      interrupted = true;
      console.log('stopping after the drills that run …');
    });
  }
  const performNext = async (): Promise<void> => {
    const drill = waiting.shift();
    if (!drill || interrupted) return;
    const started = performance.now();
    const report = await perform(drill, dist);
    reports.set(drill, report);
    const seconds = ((performance.now() - started) / 1_000).toFixed(0);
    const result = report.skipped ?? (report.breaches.length === 0 ? 'held' : report.breaches.join('; '));
    console.log(`${drill.name.padEnd(30)}${seconds.padStart(3)} s  ${result}`);
    await performNext();
  };
  try {
    await build(path.relative(root, dist));
    await Promise.all(Array.from({ length: atOnce }, performNext));
  } finally {
    rmSync(path.dirname(dist), { recursive: true, force: true });
  }
  const inOrder = chosen.flatMap((drill) => reports.get(drill) ?? []);
  console.log(`\n${table(inOrder)}`);
  if (interrupted || inOrder.some((report) => report.breaches.length > 0)) process.exitCode = 1;
}
