import { setTimeout as sleep } from 'node:timers/promises';
import { dayOf } from '#libs/contract/calendar';
import { atMost, quantile, single } from '../figures.ts';
import { type Measurement, readTotal, statsPath, untilFromRedis } from '../measurement.ts';
import type { Site } from '../requests.ts';
import type { Server, Stack } from '../stack.ts';
import { sustainRounds } from './sustain.ts';

const lookEvery = 4;
const warmUp = 2;

export const fresh: Measurement = {
  name: 'fresh',
  about: 'how soon a decision shows in `stats` after its 202, and how long a 202 takes, at half of sustain',
  run: async (stack, scale) => {
    const { sustain } = await (await sustainRounds(stack, scale))();
    const rate = Math.round((sustain?.value ?? 0) / 2);
    await stack.reset();
    const [api] = await Promise.all([stack.startApi(), stack.startWorker()]);
    // their organization gets no other load
    const probes = await stack.makeSites(2);
    const seconds = scale.seconds + 2;
    const paced = { rate, seconds, warmUp, connections: 64 };
    const load = stack.load({ baseUrl: api.baseUrl, send: { sites: stack.sites }, ...paced });
    await sleep(warmUp * 1_000);
    const end = performance.now() + (seconds - 1) * 1_000;
    const delays = (await Promise.all(probes.map((probe) => follow(stack, { api, probe, end })))).flat();
    const { p50, p99 } = await load;
    const note = `at ${rate.toLocaleString('en-US')} records/s, ${delays.length} followed`;
    return [
      { ...single('fresh', 'ms p50', quantile(delays, 0.5), atMost(50)), note },
      single('fresh', 'ms p99', quantile(delays, 0.99), atMost(250)),
      single('fresh: receipt', 'ms p50', p50),
      single('fresh: receipt', 'ms p99', p99),
    ];
  },
};

/** Milliseconds of each decision of one domain, one after the other. */
async function follow(stack: Stack, { api, probe, end }: { api: Server; probe: Site; end: number }): Promise<number[]> {
  const day = dayOf(Date.now());
  const read = [api, statsPath(probe.domainId, day, day), stack.token(probe.organizationId)] as const;
  await untilFromRedis(...read);
  const headers = { 'content-type': 'application/json', 'x-api-key': probe.apiKey };
  const url = `${api.baseUrl}/v1/consent/${probe.domainId}/record`;
  const delays: number[] = [];
  let total = await readTotal(...read);
  while (performance.now() < end) {
    const { status } = await fetch(url, { method: 'POST', headers, body: '{"decision":"accept_all"}' });
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
