import { assent, usual } from '../designs.ts';
import { drainRate } from '../drain-rate.ts';
import { atLeast, compared, type Measurement } from '../measurement.ts';
import { alternate } from '../rounds.ts';

export const drainSmall: Measurement = {
  name: 'drain-small',
  about: 'records/s of the worker on a backlog in jobs of 1, as many idle APIs leave ÷ the usual worker',
  // a short backlog is gone before the worker has found out how many small jobs to take at once
  slow: true,
  run: async (bench, { rounds, smallBacklog: records }) => {
    const stack = await bench.empty();
    const other = await usual(stack);
    const measured = await alternate(rounds, {
      reference: () => drainRate(other, { records, perJob: 1 }),
      figure: () => drainRate(assent(stack), { records, perJob: 1 }),
    });
    return [compared('drain-small', 'records/s', measured, atLeast(2.5))];
  },
};
