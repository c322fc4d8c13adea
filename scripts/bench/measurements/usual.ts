import { assent, type Design, usual as usualDesign } from '../designs.ts';
import { atLeast, compared, type Measurement } from '../measurement.ts';
import { alternate } from '../rounds.ts';
import { sustainRate } from '../sustain-rate.ts';

export const usual: Measurement = {
  name: 'usual',
  about: 'sustain ÷ the same for the usual design: one job, one INSERT and one set of HINCRBY for each record',
  run: async (bench, { rounds, endToEndSeconds: seconds }) => {
    const stack = await bench.empty();
    const { dist, sites } = stack;
    const begin = async (design: Design) => {
      const [{ baseUrl }] = await Promise.all([design.startApi(), design.startWorker()]);
      return async () => (await sustainRate(design, { dist, baseUrl, sites, seconds })).recordsPerSecond;
    };
    const [reference, figure] = await Promise.all([begin(await usualDesign(stack)), begin(assent(stack))]);
    return [compared('usual', 'records/s', await alternate(rounds, { reference, figure }), atLeast(6))];
  },
};
