/** `npm run chaos [-- NAME… | --quick | --list | --random --minutes N --seed S]`: checks the guarantees under faults. */
import { setMaxListeners } from 'node:events';
import { rmSync } from 'node:fs';
import path from 'node:path';
import pLimit from 'p-limit';
import { type Drill, perform, type Report } from './chaos/drill.ts';
import { alertDrills } from './chaos/drills/alerts.ts';
import { engineDrills, killDrills } from './chaos/drills/engines.ts';
import { peerDrills } from './chaos/drills/peers.ts';
import { replicatedDrills, upgradeAt } from './chaos/drills/replicated.ts';
import { readOptions } from './chaos/options.ts';
import { randomDrill } from './chaos/random/run.ts';
import { build } from './stack/build.ts';
import { ensureDataRoot } from './stack/paths.ts';
import { onInterrupt } from './stack/private-stores.ts';

const drills: Drill[] = [
  ...killDrills,
  ...engineDrills,
  ...replicatedDrills,
  ...alertDrills,
  ...peerDrills,
  upgradeAt(1_000, 3),
];
/** Drills mostly wait, and each has a stack of its own. */
const atOnce = 2;

const options = readOptions(
  process.argv.slice(2),
  drills.map(({ name }) => name),
);
const { list, quick, names, random } = options;

if (list) {
  const random = { name: '--random', quick: false, about: 'faults of all parts at random times; --minutes N --seed S' };
  for (const { name, about, quick } of [...drills, random])
    console.log(`${name.padEnd(30)}${(quick ? 'quick' : '').padEnd(7)}${about}`);
} else {
  const isChosen = (drill: Drill) => (names.length > 0 ? names.includes(drill.name) : drill.quick || !quick);
  process.exit(await run(random ? [randomDrill(random)] : drills.filter(isChosen)));
}

/** Runs the drills and returns the exit code. A signal ends the drills in progress, with their stacks. */
async function run(chosen: Drill[]): Promise<number> {
  const folder = path.join(ensureDataRoot(), `chaos-build-${process.pid}`);
  const dist = path.join(folder, 'dist');
  const broken: string[] = [];
  const signal = onInterrupt();
  // every wait of every drill adds a listener
  setMaxListeners(0, signal);
  const performOne = async (drill: Drill): Promise<void> => {
    signal.throwIfAborted();
    const started = performance.now();
    const report = await perform(drill, dist, signal);
    if (report.breaches.length > 0) broken.push(drill.name);
    const seconds = ((performance.now() - started) / 1_000).toFixed(0);
    console.log(`${drill.name.padEnd(30)}${seconds.padStart(4)} s  ${describe(report, drill)}`);
  };
  try {
    await build(dist, { signal });
    const limit = pLimit(atOnce);
    const together = chosen.filter(({ alone }) => !alone).map((drill) => limit(performOne, drill));
    // each stops its own stack, even if another one failed
    for (const each of await Promise.allSettled(together)) if (each.status === 'rejected') throw each.reason;
    for (const drill of chosen.filter(({ alone }) => alone)) await performOne(drill);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (signal.aborted) return 130;
  console.log(broken.length === 0 ? `all ${chosen.length} held` : `BROKEN: ${broken.join(', ')}`);
  return broken.length > 0 ? 1 : 0;
}

function describe({ verdict, secondsToRecover = 0, breaches }: Report, { mayLose = 0 }: Drill): string {
  const result = breaches.length === 0 ? 'held' : `BROKEN: ${breaches.join('; ')}`;
  if (!verdict) return result;
  const { acknowledged, attempts, found, lost, slowest } = verdict;
  const counts = `${acknowledged} of ${attempts} acknowledged, ${found} stored, ${lost} of at most ${mayLose} lost`;
  return `${result}  (${counts}, slowest ${slowest} ms, recovered in ${secondsToRecover.toFixed(1)} s)`;
}
