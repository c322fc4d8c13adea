import { assent } from '../designs.ts';
import { drainRate } from '../drain-rate.ts';
import { runLoad } from '../load.ts';
import { compared, type Measurement } from '../measurement.ts';
import { alternate } from '../rounds.ts';

export const scale: Measurement = {
  name: 'scale',
  about: 'records/s accepted by 2 API processes ÷ by 1, and drained by 2 workers ÷ by 1',
  slow: true,
  run: async (bench, { rounds, seconds, backlog }) => {
    const stack = await bench.empty();
    const { dist, sites } = stack;
    const [one, two] = await Promise.all([stack.startApi(), stack.startApi({ WEB_CONCURRENCY: '2' })]);
    const accept = ({ baseUrl }: { baseUrl: string }) => runLoad(dist, { baseUrl, seconds, send: { sites } });
    for (const each of [one, two]) await accept(each);
    const accepted = await alternate(rounds, { reference: () => accept(one), figure: () => accept(two) });
    await stack.reset();
    const drainBy = (workers: number) => drainRate(assent(stack), { records: backlog, perJob: 25, workers });
    const drained = await alternate(rounds, { reference: () => drainBy(1), figure: () => drainBy(2) });
    return [
      compared('scale: accepted by 2', 'records/s', accepted),
      compared('scale: drained by 2', 'records/s', drained),
    ];
  },
};
