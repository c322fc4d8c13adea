import { runChild } from '../child.ts';
import { assent } from '../designs.ts';
import { runLoad } from '../load.ts';
import { atLeast, type Compared, compared, type Measurement, type Row, single } from '../measurement.ts';
import type { PersistLoad, PersistResult } from '../persist.ts';
import { available, processorTime } from '../processor.ts';
import { median } from '../quantiles.ts';
import { alternate } from '../rounds.ts';
import type { Stack } from '../stack.ts';
import { type Sustained, sustainRate } from '../sustain-rate.ts';

export const sustain: Measurement = {
  name: 'sustain',
  about: "records/s stored end to end with no growing backlog ÷ bare Koa, and where the processors' time goes",
  run: async (bench, { rounds, seconds, endToEndSeconds, backlog }) => {
    const stack = await bench.empty();
    const { dist, sites, pids } = stack;
    const design = assent(stack);
    const [bare, api, worker] = await Promise.all([stack.startBare(), stack.startApi(), stack.startWorker()]);
    const watched = { API: api.process.pid, worker: worker.process.pid, ...pids };
    const alone: number[] = [];
    const whole: Sustained[] = [];
    const load = () => runLoad(dist, { baseUrl: bare.baseUrl, seconds, send: { sites } });
    await load();
    const measured = await alternate(rounds, {
      reference: async () => {
        const before = processorTime(bare.pid);
        const rate = await load();
        alone.push((processorTime(bare.pid) - before) / (rate * seconds));
        return rate;
      },
      figure: async () => {
        const sustained = await sustainRate(design, {
          dist,
          baseUrl: api.baseUrl,
          sites,
          seconds: endToEndSeconds,
          watched,
        });
        whole.push(sustained);
        return sustained.recordsPerSecond;
      },
    });
    bench.known.set('sustain', measured.figure);
    await stack.reset();
    const least = { API: median(alone), ...(await persistAlone(stack, backlog / 2)) };
    return [compared('sustain', 'records/s', measured, atLeast(0.6)), ...budget(measured, whole, least)];
  },
};

/** Microseconds of both sides for each record, where nothing is done but the bare persist statement at 500 rows. */
async function persistAlone({ dist, databaseUrl, sites, pids }: Stack, records: number) {
  const load: PersistLoad = { databaseUrl, sites, records, postgres: pids.Postgres };
  const { spent, postgres } = await runChild<PersistResult>(dist, 'persist', load);
  return { worker: spent, Postgres: postgres };
}

/** What each process takes beside the least that it could, and how far the whole is from all processors doing only that. */
function budget({ figure }: Compared, whole: Sustained[], least: Record<string, number>): Row[] {
  const names = Object.keys(whole[0]?.spent ?? {});
  const spent = Object.fromEntries(names.map((name) => [name, median(whole.map((each) => each.spent[name] ?? 0))]));
  const reference = available / names.reduce((sum, name) => sum + (least[name] ?? spent[name] ?? 0), 0);
  return [
    compared('sustain: floor', 'records/s', { figure, reference, ratio: figure / reference }),
    ...names.map((name) => {
      const [took, could] = [spent[name] ?? Number.NaN, least[name]];
      return could === undefined
        ? single(`sustain: ${name}`, 'µs CPU', took)
        : compared(`sustain: ${name}`, 'µs CPU', { figure: took, reference: could, ratio: took / could });
    }),
  ];
}

/** What `sustain` found in this run, or a quick look. */
export async function knownSustainRate(known: Map<string, number>, stack: Stack): Promise<number> {
  const found = known.get('sustain');
  if (found !== undefined) return found;
  const design = assent(stack);
  const [{ baseUrl }] = await Promise.all([design.startApi(), design.startWorker()]);
  const { recordsPerSecond } = await sustainRate(design, { dist: stack.dist, baseUrl, sites: stack.sites, seconds: 3 });
  known.set('sustain', recordsPerSecond);
  await stack.reset();
  return recordsPerSecond;
}
