import { z } from 'zod';
import { addDays, dayOf } from '#libs/base/terms/calendar';
import { newKey } from '../../stack/private-stores.ts';
import { addKeys, postRecord, type Site } from '../../stack/sites.ts';
import { untilTrue } from '../../stack/wait.ts';
import { cpuTime, type Figures, median } from '../figures.ts';
import { get, load, type Measurement, untilFromRedis } from '../measurement.ts';
import type { Server, Stack } from '../stack.ts';
import { sustained } from './recording.ts';

/** `rates`: requests a second; undefined: as many as are stored */
const all = { rates: [200, 2_000, undefined], domainCounts: [1, 20, 500] };
const some = { rates: [2_000, undefined], domainCounts: [20] };
/** A worker's. */
const sealing = { LOG_NAME: 'bench', LOG_KEY: newKey() };
/**
 * By default nothing is sealed within a round; what that costs, `seal` says. Statistics by dimension and the counts of
 * notices take the epochs of 15 s together: two such spans are a round's, where epochs end each second.
 */
const paces = [
  { pace: 'by default', settings: { ...sealing, SEAL_SECONDS: '60' }, least: 0 },
  { pace: 'each second', settings: { ...sealing, SEAL_SECONDS: '1' }, least: 33 },
];
const probes = 10;
const statistics = z.object({ total: z.number() });
/** whose CPU time a record takes */
const processes = ['API', 'worker', 'Postgres', 'Redis'];

export const cost: Measurement = {
  name: 'cost',
  about:
    "CPU time of a record ÷ that of bare Koa's answer, by rate, domains and how often it is sealed; p99, freshness",
  figure: async (stack, { seconds, isQuick = false }) => {
    const { rates, domainCounts } = isQuick ? some : all;
    const [first] = stack.sites;
    if (!first) throw new Error('there is no domain');
    const added = await stack.addDomains([first.organizationId], Math.max(...domainCounts) + 1);
    const [probe, ...sites] = await addKeys(stack.db, first.organizationId, added);
    if (!probe) throw new Error('there is no domain to ask for');
    return async () => {
      const figures: Figures = {};
      for (const rate of rates) {
        const bare = await bareCost(stack, rate, seconds);
        figures[`cost: ${rateName(rate)}: bare Koa`] = { value: bare, unit: 'µs CPU' };
        for (const domains of domainCounts) {
          for (const { pace, settings, least } of paces) {
            const name = `cost: ${rateName(rate)}, ${domains} domains, sealed ${pace}`;
            await stack.reset();
            const afterwards = (api: Server) => freshness(name, api, probe, stack.token(probe.organizationId));
            const use = { settings, sites: sites.slice(0, domains), rate, afterwards };
            const found = await (await sustained(name, stack, isQuick ? seconds : Math.max(seconds, least), use))();
            const sum = processes.reduce((sum, each) => sum + (found[`${name}: ${each}`]?.value ?? Number.NaN), 0);
            Object.assign(figures, found, { [`${name}: ÷ Koa`]: { value: sum / bare, unit: '' } });
          }
        }
      }
      return figures;
    };
  },
};

const rateName = (rate: number | undefined): string => (rate ? `${rate}/s` : 'full speed');

/** Microseconds of CPU time for each answer to the same POST. */
async function bareCost(stack: Stack, rate: number | undefined, seconds: number): Promise<number> {
  const { baseUrl, pid, stop } = await stack.startBare();
  const wanted = { baseUrl, send: { sites: stack.sites }, seconds, ...(rate && { rate }) };
  await load(wanted);
  const before = cpuTime(pid);
  const { answered } = await load(wanted);
  const used = cpuTime(pid) - before;
  await stop();
  return used / answered;
}

/** The median from a record's 202 until the statistics count it. */
async function freshness(name: string, api: Server, { domainId, apiKey }: Site, token: string): Promise<Figures> {
  const today = dayOf(Date.now());
  const path = `/v1/consent/${domainId}/stats?from=${addDays(today, -1)}&to=${addDays(today, 1)}`;
  await untilFromRedis(api, path, token);
  const total = async () => statistics.parse(await (await get(api, path, token)).json()).total;
  const times: number[] = [];
  while (times.length < probes) {
    const before = await total();
    const { status } = await postRecord(api.baseUrl, { domainId, apiKey }, { decision: 'accept_all' });
    if (status !== 202) throw new Error(`a record was answered ${status}`);
    const sent = performance.now();
    const isCounted = async () => (await total()) > before;
    await untilTrue(isCounted, 'a record is counted', { intervalMs: 5 });
    times.push(performance.now() - sent);
  }
  return { [`${name}: counted after`]: { value: median(times), unit: 'ms' } };
}
