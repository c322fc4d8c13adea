import { setTimeout as sleep } from 'node:timers/promises';
import { addDays, dayOf, daysBetween, monthOfDay } from '#libs/base/terms/calendar';
import type { Figures } from '../figures.ts';
import { type Measurement, startLoad } from '../measurement.ts';
import type { Stack } from '../stack.ts';

/** records a second, all the while */
const rate = 50;
/** of each organization */
const domains = 10;
/** seconds */
const patience = 300;

/** They have recorded for long: only their counters, since nothing else is read. Those that are there stay. */
const makeOrganizations = ({ db }: Stack, organizations: number, periods: string[]) =>
  db.write(
    (sql) => sql`
      with made as materialized (
        select concat('org_many_', n) as organization, concat('dom_many_', n, '_', d) as domain
        from generate_series(1, ${organizations}::int) n, generate_series(1, ${domains}::int) d
      ),
      organizations_made as (
        insert into organizations (id, name, plan)
        select distinct organization, 'One of many', (select name from plans limit 1) from made on conflict do nothing
      ),
      domains_made as (
        insert into domains (id, organization_id, name) select domain, organization, domain from made on conflict do nothing
      )
      insert into counters (organization_id, domain_id, period, accept_all, reject_all, custom, withdraw)
      select organization, domain, period, 6172, 3950, 1728, 493
      from (select * from made union select organization, '' from made) places, unnest(${periods}::text[]) period
      order by period
      on conflict do nothing`,
  );

/** How soon counters are whole in Redis, and what records feel of it. */
export const tenants: Measurement = {
  name: 'tenants',
  about: 'when the counters of 1,000 organizations of 10 domains and a year are whole in Redis; the slowest record',
  figure: async (stack, { records }) => {
    const organizations = records / 200;
    const today = dayOf(Date.now());
    const days = daysBetween(addDays(today, -364), today);
    const periods = [...new Set([...days, ...days.map(monthOfDay)])];
    await makeOrganizations(stack, organizations, periods);
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
    'tenants: after start': 'at most 30',
    'tenants: after FLUSHALL': 'at most 30',
    'tenants: wrong counter': 'at most 60',
    'tenants: slowest record': 'at most 500',
  },
};
