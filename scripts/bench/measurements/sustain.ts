import { assent } from '../designs.ts';
import { runLoad } from '../load.ts';
import { atLeast, compared, type Measurement } from '../measurement.ts';
import { alternate } from '../rounds.ts';
import type { Stack } from '../stack.ts';
import { sustainRate } from '../sustain-rate.ts';

export const sustain: Measurement = {
  name: 'sustain',
  about: 'records/s stored end to end with no growing backlog ÷ bare Koa',
  run: async (bench, { rounds, seconds, endToEndSeconds }) => {
    const stack = await bench.empty();
    const { dist, sites } = stack;
    const design = assent(stack);
    const [bare, api] = await Promise.all([stack.startBare(), design.startApi(), design.startWorker()]);
    const reference = () => runLoad(dist, { baseUrl: bare.baseUrl, seconds, send: { sites } });
    await reference();
    const measured = await alternate(rounds, {
      reference,
      figure: () => sustainRate(design, { dist, baseUrl: api.baseUrl, sites, seconds: endToEndSeconds }),
    });
    bench.known.set('sustain', measured.figure);
    return [compared('sustain', 'records/s', measured, atLeast(0.6))];
  },
};

/** What `sustain` found in this run, or a quick look. */
export async function knownSustainRate(known: Map<string, number>, stack: Stack): Promise<number> {
  const found = known.get('sustain');
  if (found !== undefined) return found;
  const design = assent(stack);
  const [{ baseUrl }] = await Promise.all([design.startApi(), design.startWorker()]);
  const rate = await sustainRate(design, { dist: stack.dist, baseUrl, sites: stack.sites, seconds: 3 });
  known.set('sustain', rate);
  await stack.reset();
  return rate;
}
