import { runChild } from '../child.ts';
import { assent } from '../designs.ts';
import { drainRate } from '../drain-rate.ts';
import { atLeast, compared, type Measurement } from '../measurement.ts';
import type { PersistLoad, PersistResult } from '../persist.ts';
import { alternate } from '../rounds.ts';

export const drain: Measurement = {
  name: 'drain',
  about: 'records/s of the worker on a backlog in jobs of 25 ÷ the bare persist statement at 500 rows',
  run: async (bench, { rounds, backlog }) => {
    const stack = await bench.empty();
    const { dist, databaseUrl, sites, pids } = stack;
    const load: PersistLoad = { databaseUrl, sites, records: backlog / 2, postgres: pids.Postgres };
    const measured = await alternate(rounds, {
      reference: async () => (await runChild<PersistResult>(dist, 'persist', load)).recordsPerSecond,
      figure: () => drainRate(assent(stack), { records: backlog, perJob: 25 }),
    });
    return [compared('drain', 'records/s', measured, atLeast(0.6))];
  },
};
