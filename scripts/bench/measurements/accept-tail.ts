import { runChild, type Server } from '../child.ts';
import { atMost, compared, type Measurement } from '../measurement.ts';
import type { PacedLoad, PacedResult } from '../paced.ts';
import { alternate } from '../rounds.ts';
import { knownAcceptRate } from './accept.ts';

export const acceptTail: Measurement = {
  name: 'accept-tail',
  about: "p99 of accept at half of its load ÷ bare Koa's, and ÷ that of a bare Koa that waits for one write to Redis",
  // a look of seconds at a 99th percentile sees the disk's worst moments and little else
  slow: true,
  run: async (bench, { rounds, seconds }) => {
    const stack = await bench.empty();
    const rate = Math.round((await knownAcceptRate(bench.known, stack)) / 2);
    await stack.reset();
    const { dist, sites } = stack;
    const [bare, floor, api] = await Promise.all([
      stack.startBare(),
      stack.startBare({ safe: true }),
      stack.startApi(),
    ]);
    const p99 = async ({ baseUrl }: { baseUrl: string }) => {
      const load: PacedLoad = { baseUrl, sites, rate, seconds, warmUp: Math.min(1, seconds / 2), connections: 64 };
      const result = await runChild<PacedResult>(dist, 'paced', load);
      if (result.failed > 0) throw new Error(`${result.failed} requests to ${baseUrl} failed`);
      return result.p99;
    };
    const row = async (name: string, reference: Server) => {
      const measured = await alternate(rounds, { reference: () => p99(reference), figure: () => p99(api) });
      return { ...compared(name, 'ms p99', measured, atMost(2)), note: `at ${rate.toLocaleString('en-US')} records/s` };
    };
    return [await row('accept-tail', bare), await row('accept-tail: floor', floor)];
  },
};
