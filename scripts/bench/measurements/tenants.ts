import { setTimeout as sleep } from 'node:timers/promises';
import { addDays, dayOf, daysBetween, monthOfDay } from '#libs/base/terms/calendar';
import { atMost, type Figures } from '../figures.ts';
import type { Measurement } from '../measurement.ts';
import { makeOrganizations } from '../organizations.ts';
import { startLoad } from '../programs.ts';

/** records a second, all the while */
const rate = 50;
/** of each organization */
const domains = 10;
/** seconds */
const patience = 300;

/** How soon counters are whole in Redis, and what records feel of it. */
export const tenants: Measurement = {
  name: 'tenants',
  about: 'when the counters of 1,000 organizations of 10 domains and a year are whole in Redis; the slowest record',
  figure: async (stack, { records }) => {
    const organizations = records / 200;
    const today = dayOf(Date.now());
    const days = daysBetween(addDays(today, -364), today);
    const periods = [...new Set([...days, ...days.map(monthOfDay)])];
    await makeOrganizations(stack, { name: 'many', organizations, domains, periods, order: 'period' });
    const marks = Array.from({ length: organizations }, (_, n) => `assent:{org_many_${n + 1}}:ready`);
    const isWhole = async () => (await stack.redis.exists(...marks)) === marks.length;
    const [key, day] = [`assent:{org_many_1}:days:dom_many_1_1:${monthOfDay(today)}`, '01'];

    return async () => {
      await stack.redis.flushall();
      const { baseUrl, stop } = await stack.startApi();
      const figures: Figures = {};
      let slowest = 0;
      const measure = async (what: string, isDone: () => Promise<boolean>) => {
        const send = { sites: stack.sites };
        const load = startLoad({ baseUrl, send, rate, seconds: patience, connections: 32 });
        const started = performance.now();
        const elapsed = () => (performance.now() - started) / 1_000;
        while (!(await isDone())) {
          if (elapsed() > patience) throw new Error(`not whole ${patience} s ${what}`);
          await sleep(100);
        }
        figures[`tenants: ${what}`] = { value: elapsed(), unit: 's' };
        const result = await load.end();
        if (result.failed > 0) throw new Error(`${result.failed} records were not acknowledged`);
        slowest = Math.max(slowest, result.slowest);
      };
      const worker = stack.startWorker();
      await measure('after start', isWhole);
      await stack.redis.flushall();
      await measure('after FLUSHALL', isWhole);
      const right = await stack.redis.hget(key, day);
      await stack.redis.hset(key, day, '99999999 0 0 0');
      await measure('wrong counter', async () => (await stack.redis.hget(key, day)) === right && (await isWhole()));
      await Promise.all([stop(), worker.then((server) => server.stop())]);
      // a year of each domain, and their sum
      const bytes = (await stack.redisBytes()) / organizations / (domains + 1) / 12;
      return {
        ...figures,
        'tenants: slowest record': { value: slowest, unit: 'ms' },
        'tenants: counters of a domain and month': { value: bytes, unit: 'bytes of Redis' },
      };
    };
  },
  targets: {
    'tenants: after start': atMost(30),
    'tenants: after FLUSHALL': atMost(30),
    'tenants: wrong counter': atMost(60),
    'tenants: slowest record': atMost(500),
  },
};
