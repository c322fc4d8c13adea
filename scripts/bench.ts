/** `npm run bench [-- NAME… | --quick | --list | --against DIR | soak --minutes N | restore --records N]`: figures beside their references, measured in one run. */
import { writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { inTurns, type Row, table } from './bench/figures.ts';
import { against, type Computation, type Measurement, quick, whole } from './bench/measurement.ts';
import { accept } from './bench/measurements/accept.ts';
import { besideSealing } from './bench/measurements/beside-sealing.ts';
import { burst } from './bench/measurements/burst.ts';
import { capacity } from './bench/measurements/capacity.ts';
import { disk } from './bench/measurements/disk.ts';
import { displays } from './bench/measurements/displays.ts';
import { drain } from './bench/measurements/drain.ts';
import { erase } from './bench/measurements/erase.ts';
import { exports } from './bench/measurements/export.ts';
import { facets } from './bench/measurements/facets.ts';
import { fresh } from './bench/measurements/fresh.ts';
import { imports } from './bench/measurements/import.ts';
import { jobs } from './bench/measurements/jobs.ts';
import { logCheck } from './bench/measurements/log-check.ts';
import { pages } from './bench/measurements/pages.ts';
import { persist } from './bench/measurements/persist.ts';
import { restore } from './bench/measurements/restore.ts';
import { roundTrip } from './bench/measurements/round-trip.ts';
import { seal } from './bench/measurements/seal.ts';
import { shardsOfOrganizations } from './bench/measurements/shards.ts';
import { soak } from './bench/measurements/soak.ts';
import { stats } from './bench/measurements/stats.ts';
import { statsBy } from './bench/measurements/stats-by.ts';
import { sustain } from './bench/measurements/sustain.ts';
import { giant, tenants, thousands } from './bench/measurements/tenants.ts';
import { webhooks } from './bench/measurements/webhooks.ts';
import { startBench } from './bench/stack.ts';
import { Advice, tell } from './stack/advice.ts';
import { onInterrupt } from './stack/interrupt.ts';
import { ensureDataRoot } from './stack/paths.ts';

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean' },
    list: { type: 'boolean' },
    against: { type: 'string' },
    minutes: { type: 'string' },
    records: { type: 'string' },
  },
});
/** The checkout to compare with, in turns; each build has its own stores and gets the same load. */
const other = values.against === undefined ? undefined : path.resolve(values.against);
const usual = values.quick ? quick : other === undefined ? whole : against;
const scale = {
  ...usual,
  ...(values.minutes !== undefined && { minutes: Number(values.minutes) }),
  ...(values.records !== undefined && { records: Number(values.records) }),
};
const all = [
  accept,
  displays,
  sustain,
  drain,
  disk,
  persist,
  seal,
  besideSealing,
  logCheck,
  facets,
  fresh,
  burst,
  stats,
  statsBy,
  pages,
  erase,
  exports,
  imports,
  roundTrip,
  webhooks,
  tenants,
  thousands,
  giant,
  shardsOfOrganizations,
  jobs,
  capacity,
  soak,
  restore,
];
const signal = onInterrupt();
const offered = all.filter(({ comparable }) => other === undefined || comparable);

try {
  const list = offered.map(({ name, about }) => `${name.padEnd(11)}${about}`).join('\n');
  const unknown = names.filter((name) => !offered.some((each) => each.name === name));
  if (unknown.length > 0) throw new Advice(`no measurement ${unknown.join(', ')}; there are\n${list}`);
  if (!(scale.minutes > 0)) throw new Advice(`--minutes takes a number above 0, not ${values.minutes}`);
  if (!(scale.records > 0)) throw new Advice(`--records takes a number above 0, not ${values.records}`);
  if (values.list) console.log(list);
  else await measure();
} catch (error) {
  if (!signal.aborted) console.error(tell(error));
  process.exitCode = 1;
}

async function measure(): Promise<void> {
  const dataRoot = ensureDataRoot();
  const machine = `${os.cpus().length} × ${os.cpus()[0]?.model.trim()}, Node ${process.versions.node}`;
  console.log(machine);
  const chosen = offered.filter(({ name, isLong }) => (names.length > 0 ? names.includes(name) : !isLong));
  let starting: ReturnType<typeof startBench> | undefined;
  const stacks = () => {
    starting ??= startBench(signal, other);
    return starting;
  };
  const sidesOf = async (each: Measurement | Computation) => {
    if ('compute' in each) return { figure: each.compute, targets: each.targets };
    const { figure, reference, targets } = each;
    const { here, there } = await stacks();
    for (const stack of [here, there]) await stack?.reset();
    return there
      ? { reference: await figure(there, scale), figure: await figure(here, scale) }
      : { reference: await reference?.(here, scale), figure: await figure(here, scale), targets };
  };
  signal.addEventListener('abort', () => {
    void Promise.resolve(starting)
      .then((started) => started?.stop())
      .finally(() => process.exit(130));
  });
  if (chosen.some((each) => 'figure' in each)) await stacks();
  const rows: Row[] = [];
  const failed: string[] = [];
  for (const each of chosen) {
    const { name } = each;
    const started = performance.now();
    try {
      rows.push(...(await inTurns(scale.rounds, await sidesOf(each))));
    } catch (error) {
      // what fails now fails because its servers go
      if (signal.aborted) return;
      failed.push(name);
      console.error(`${name} failed: ${tell(error)}`);
    }
    console.log(`${name.padEnd(11)}${((performance.now() - started) / 1_000).toFixed(0).padStart(4)} s`);
  }
  await (await starting)?.stop();
  console.log(`\n${table(rows, other === undefined ? undefined : ['here', 'there'])}`);
  for (const each of chosen) if ('advice' in each) console.log(`\n${each.advice}`);
  if (failed.length > 0) console.log(`failed: ${failed.join(', ')}`);
  const results = { at: new Date(), machine, other, scale, rows, failed };
  writeFileSync(path.join(dataRoot, 'bench.json'), `${JSON.stringify(results, null, 2)}\n`);
  // machines are noisy, so that a missed target alone fails nothing; a lost or doubled record does
  if (failed.length > 0) process.exitCode = 1;
}
