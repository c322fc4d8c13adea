/** How soon a decision shows: from its 202 to the first answer of `stats` that counts it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { dayOf } from '#libs/contract/calendar';
import { makeTemplates, type Site, visitorNumber } from '../bodies.ts';
import { runChild } from '../child.ts';
import { getRequest, openConnection } from '../connection.ts';
import { atMost, type Measurement, single } from '../measurement.ts';
import type { PacedLoad, PacedResult } from '../paced.ts';
import { quantile } from '../quantiles.ts';
import type { Stack } from '../stack.ts';
import { untilFromRedis } from '../stats-source.ts';
import { knownSustainRate } from './sustain.ts';

/** milliseconds between two looks at the statistics */
const lookEvery = 2;
const warmUp = 2;

export const fresh: Measurement = {
  name: 'fresh',
  about: 'p50 and p99 from the 202 to visible in `stats`, at half of sustain',
  run: async (bench, { endToEndSeconds, followed }) => {
    const stack = await bench.empty();
    const rate = Math.round((await knownSustainRate(bench.known, stack)) / 2);
    const [{ baseUrl }] = await Promise.all([stack.startApi(), stack.startWorker()]);
    const seconds = endToEndSeconds + 2;
    const load: PacedLoad = { baseUrl, sites: stack.sites, rate, seconds, warmUp, connections: 64 };
    const background = runChild<PacedResult>(stack.dist, 'paced', load);
    await sleep(warmUp * 1_000);
    const end = performance.now() + (seconds - 1) * 1_000;
    const [delays, { failed }] = await Promise.all([
      Promise.all(stack.probes.map((probe) => follow(stack, { baseUrl, probe, end }))).then((all) => all.flat()),
      background,
    ]);
    if (failed > 0) throw new Error(`${failed} requests failed`);
    if (delays.length < followed) throw new Error(`only ${delays.length} decisions could be followed`);
    const note = `${delays.length} followed at ${rate.toLocaleString('en-US')} records/s`;
    return [
      { ...single('fresh', 'ms p50', quantile(delays, 0.5), atMost(50)), note },
      single('fresh', 'ms p99', quantile(delays, 0.99), atMost(250)),
    ];
  },
};

/** Milliseconds of each decision of one domain, one after the other. */
async function follow(
  stack: Stack,
  { baseUrl, probe, end }: { baseUrl: string; probe: Site; end: number },
): Promise<number[]> {
  const { domainId, organizationId } = probe;
  const [template] = makeTemplates([probe], new URL(baseUrl).host, { ids: false });
  const [before = '', after = ''] = template ?? [];
  const day = dayOf(Date.now());
  const path = `/v1/consent/${domainId}/stats?from=${day}&to=${day}`;
  const token = stack.token(organizationId);
  await untilFromRedis(baseUrl, path, token);
  const [writer, reader] = [await openConnection(baseUrl), await openConnection(baseUrl)];
  const look = async () => {
    const { status, body } = await reader.send(getRequest(baseUrl, path, token));
    if (status !== 200) throw new Error(`stats answered ${status}`);
    return (JSON.parse(body.toString()) as { total: number }).total;
  };
  const delays: number[] = [];
  let total = await look();
  while (performance.now() < end) {
    const { status } = await writer.send(before + visitorNumber(delays.length) + after);
    if (status !== 202) throw new Error(`record answered ${status}`);
    const acknowledged = performance.now();
    total += 1;
    while ((await look()) < total) {
      if (performance.now() - acknowledged > 10_000) throw new Error('a decision did not show within 10 s');
      await sleep(lookEvery);
    }
    delays.push(performance.now() - acknowledged);
  }
  for (const connection of [writer, reader]) connection.close();
  return delays;
}
