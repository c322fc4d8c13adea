import { setTimeout as sleep } from 'node:timers/promises';
import { dayOf } from '#libs/contract/calendar';
import { postRecord, type Site } from '../../stack/client.ts';
import { atMost, quantile } from '../figures.ts';
import { type Measurement, readTotal, statsPath, untilFromRedis } from '../measurement.ts';
import { load } from '../programs.ts';
import type { Server, Stack } from '../stack.ts';
import { sustain } from './sustain.ts';

const lookEvery = 4;
const warmUp = 2;

export const fresh: Measurement = {
  name: 'fresh',
  about: 'how soon a decision shows in `stats` after its 202, and how long a 202 takes, at half of sustain',
  figure: async (stack, scale) => {
    const figures = await (await sustain.figure(stack, scale))();
    const rate = Math.round((figures.sustain?.value ?? 0) / 2);
    await stack.reset();
    const [api] = await Promise.all([stack.startApi(), stack.startWorker()]);
    // their organization gets no other load
    const probes = await stack.makeSites(2);
    const seconds = scale.seconds + 2;
    return async () => {
      const paced = { rate, seconds, warmUp, connections: 64 };
      const offered = load({ baseUrl: api.baseUrl, send: { sites: stack.sites }, ...paced });
      await sleep(warmUp * 1_000);
      const end = performance.now() + (seconds - 1) * 1_000;
      const delays = (await Promise.all(probes.map((probe) => follow(stack, { api, probe, end })))).flat();
      const { p50, p99 } = await offered;
      return {
        'fresh: offered': { value: rate, unit: 'records/s' },
        'fresh: followed': { value: delays.length, unit: 'decisions' },
        'fresh: p50': { value: quantile(delays, 0.5), unit: 'ms' },
        'fresh: p99': { value: quantile(delays, 0.99), unit: 'ms' },
        'fresh: receipt, p50': { value: p50, unit: 'ms' },
        'fresh: receipt, p99': { value: p99, unit: 'ms' },
      };
    };
  },
  targets: { 'fresh: p50': atMost(50), 'fresh: p99': atMost(250) },
};

/** Milliseconds of each decision of one domain, one after the other. */
async function follow(stack: Stack, { api, probe, end }: { api: Server; probe: Site; end: number }): Promise<number[]> {
  const day = dayOf(Date.now());
  const read = [api, statsPath(probe.domainId, day, day), stack.token(probe.organizationId)] as const;
  await untilFromRedis(...read);
  const delays: number[] = [];
  let total = await readTotal(...read);
  while (performance.now() < end) {
    const { status } = await postRecord(api.baseUrl, probe, { decision: 'accept_all' });
    if (status !== 202) throw new Error(`record answered ${status}`);
    const acknowledged = performance.now();
    total += 1;
    while ((await readTotal(...read)) < total) {
      if (performance.now() - acknowledged > 10_000) throw new Error('a decision did not show within 10 s');
      await sleep(lookEvery);
    }
    delays.push(performance.now() - acknowledged);
  }
  return delays;
}
