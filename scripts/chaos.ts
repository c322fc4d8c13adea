/** `npm run chaos [-- NAME… | --quick | --list]`: faults under load, and whether the promises held. */
import { setMaxListeners } from 'node:events';
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
const usage = 'npm run chaos [-- NAME… | --quick | --list]';

const words = process.argv.slice(2);
const names = words.filter((word) => !word.startsWith('--'));
const wrong = [
  ...words.filter((word) => word.startsWith('--') && !['--quick', '--list'].includes(word)),
  ...names.filter((name) => !drills.some((drill) => drill.name === name)),
];

if (wrong.length > 0) {
  console.error(`no drill or option ${wrong.join(', ')}; ${usage}`);
  process.exitCode = 1;
} else if (words.includes('--list')) {
  for (const { name, about, quick } of drills) console.log(`${name.padEnd(30)}${quick ? 'quick ' : '      '} ${about}`);
} else {
  const isChosen = ({ name, quick }: Drill) =>
    names.length > 0 ? names.includes(name) : quick || !words.includes('--quick');
  process.exit(await run(drills.filter(isChosen)));
}

/** Performs the drills and returns the process's exit code. A signal ends those that run, with their stacks. */
async function run(chosen: Drill[]): Promise<number> {
  ensureDataRoot();
  const dist = path.join(dataRoot, `chaos-build-${process.pid}`, 'dist');
  const reports = new Map<Drill, Report>();
  const waiting = [...chosen];
  const interruption = new AbortController();
  // every wait of every drill listens
  setMaxListeners(0, interruption.signal);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (!interruption.signal.aborted) console.log('stopping …');
      interruption.abort(new Error('interrupted'));
    });
  }
  const performNext = async (): Promise<void> => {
    const drill = waiting.shift();
    if (!drill || interruption.signal.aborted) return;
    const started = performance.now();
    const report = await perform(drill, dist, interruption.signal);
    reports.set(drill, report);
    const seconds = ((performance.now() - started) / 1_000).toFixed(0);
    const result = report.skipped ?? (report.breaches.length === 0 ? 'held' : report.breaches.join('; '));
    console.log(`${drill.name.padEnd(30)}${seconds.padStart(3)} s  ${result}`);
    await performNext();
  };
  try {
    await build(path.relative(root, dist), interruption.signal);
    // each takes its own stack down, also when another one failed
    const lanes = await Promise.allSettled(Array.from({ length: atOnce }, performNext));
    for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
  } finally {
    rmSync(path.dirname(dist), { recursive: true, force: true });
  }
  if (interruption.signal.aborted) return 130;
  const inOrder = chosen.flatMap((drill) => reports.get(drill) ?? []);
  console.log(`\n${table(inOrder)}`);
  return inOrder.some((report) => report.breaches.length > 0) ? 1 : 0;
}
