/**
 * `npm run chaos [-- NAME… | --quick | --list | --random --minutes N --seed S]`: injects faults under load and checks that
 * the promises hold.
 */
import { setMaxListeners } from 'node:events';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { type Drill, perform, type Report } from './chaos/drill.ts';
import { alertDrills } from './chaos/drills/alerts.ts';
import { engineDrills } from './chaos/drills/engines.ts';
import { logDrills } from './chaos/drills/log.ts';
import { networkDrills } from './chaos/drills/network.ts';
import { postgresDrills } from './chaos/drills/postgres.ts';
import { processDrills } from './chaos/drills/processes.ts';
import { recordDrills } from './chaos/drills/records.ts';
import { redisDrills } from './chaos/drills/redis.ts';
import { replicatedDrills } from './chaos/drills/replicated.ts';
import { scaleDrills } from './chaos/drills/scale.ts';
import { upgradeAt } from './chaos/drills/upgrade.ts';
import { readOptions } from './chaos/options.ts';
import { randomDrill } from './chaos/random/run.ts';
import { build } from './stack/build.ts';
import { onInterrupt } from './stack/interrupt.ts';
import { ensureDataRoot } from './stack/paths.ts';

/** Drills mostly wait, and each has a stack of its own. The quick ones send little. */
const atOnce = { all: 2, quick: 3 };

const drills: Drill[] = [
  ...processDrills,
  ...scaleDrills,
  ...redisDrills,
  ...engineDrills,
  ...postgresDrills,
  ...replicatedDrills,
  ...networkDrills,
  ...recordDrills,
  ...logDrills,
  ...alertDrills,
  upgradeAt(1_000, 3),
];

const { list, quick, names, random } = readOptions(
  process.argv.slice(2),
  drills.map(({ name }) => name),
);

if (list) {
  const random = { name: '--random', quick: false, about: 'faults of all parts at random times; --minutes N --seed S' };
  for (const { name, about, quick } of [...drills, random]) {
    console.log(`${name.padEnd(30)}${quick ? 'quick ' : '      '} ${about}`);
  }
} else {
  const isChosen = (drill: Drill) => (names.length > 0 ? names.includes(drill.name) : drill.quick || !quick);
  process.exit(await run(random ? [randomDrill(random)] : drills.filter(isChosen)));
}

/** Performs the drills and returns the exit code. A signal ends the drills under way, with their stacks. */
async function run(chosen: Drill[]): Promise<number> {
  const folder = path.join(ensureDataRoot(), `chaos-build-${process.pid}`);
  const dist = path.join(folder, 'dist');
  const broken: string[] = [];
  let lost = 0;
  const signal = onInterrupt();
  // every wait of every drill listens
  setMaxListeners(0, signal);
  const performAll = async (waiting: Drill[]): Promise<void> => {
    for (let drill = waiting.shift(); drill && !signal.aborted; drill = waiting.shift()) {
      const started = performance.now();
      const report = await perform(drill, dist, signal);
      if (report.breaches.length > 0) broken.push(drill.name);
      lost += report.verdict?.lost ?? 0;
      const seconds = ((performance.now() - started) / 1_000).toFixed(0);
      console.log(`${drill.name.padEnd(30)}${seconds.padStart(4)} s  ${describe(report)}`);
    }
  };
  const performIn = async (count: number, waiting: Drill[]): Promise<void> => {
    // each lane takes its own stack down, even if another one failed
    const lanes = await Promise.allSettled(Array.from({ length: count }, () => performAll(waiting)));
    for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason;
  };
  try {
    await build(dist, signal);
    const alone = chosen.filter((drill) => drill.alone);
    await performIn(
      quick ? atOnce.quick : atOnce.all,
      chosen.filter((drill) => !alone.includes(drill)),
    );
    await performIn(1, alone);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (signal.aborted) return 130;
  const tail =
    lost > 0 ? `; ${lost} records were lost where a failover may lose some` : ', no acknowledged record lost';
  console.log(broken.length === 0 ? `all ${chosen.length} held${tail}` : `BROKEN: ${broken.join(', ')}`);
  return broken.length > 0 ? 1 : 0;
}

function describe({ verdict, mayLose = 0, secondsToHeal = 0, breaches, skipped }: Report): string {
  const result = skipped ?? (breaches.length === 0 ? 'held' : `BROKEN: ${breaches.join('; ')}`);
  if (!verdict) return result;
  const { acknowledged, attempts, found, lost, slowest } = verdict;
  const counts = `${acknowledged} of ${attempts} acknowledged, ${found} stored, ${lost} lost${mayLose > 0 ? ` of at most ${mayLose}` : ''}`;
  return `${result}  (${counts}, slowest ${slowest} ms, healed in ${secondsToHeal.toFixed(1)} s)`;
}
