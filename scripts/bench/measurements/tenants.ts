import { setTimeout as sleep } from 'node:timers/promises';
import { dayOf } from '#libs/contract/calendar';
import { atMost, type Figures } from '../figures.ts';
import type { Measurement } from '../measurement.ts';
import { startLoad } from '../programs.ts';
import type { Stack } from '../stack.ts';

/** records a second, all the while */
const rate = 50;
/** seconds */
const patience = 300;

interface Tenants {
  organizations: number;
  /** of each */
  domains: number;
  /** of counters, up to today */
  days: number;
}

/** How soon counters are whole in Redis, and what records feel of it. */
const healing = (name: string, about: string, seconds: number, shape: (records: number) => Tenants): Measurement => ({
  name,
  about,
  targets: {
    [`${name}: after start`]: atMost(seconds),
    [`${name}: after FLUSHALL`]: atMost(seconds),
    [`${name}: wrong counter`]: atMost(60),
    [`${name}: slowest record`]: atMost(500),
  },
  figure: async (stack, { records }) => {
    const tenants = shape(records);
    await makeTenants(stack, tenants);
    const marks = Array.from({ length: tenants.organizations }, (_, n) => `assent:{org_many_${n + 1}}:ready`);
    const isWhole = async () => (await stack.redis.exists(...marks)) === marks.length;
    const [key, day] = [`assent:{org_many_1}:days:dom_many_1_1:${dayOf(Date.now()).slice(0, 7)}`, '01'];

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
        figures[`${name}: ${what}`] = { value: elapsed(), unit: 's' };
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
      return { ...figures, [`${name}: slowest record`]: { value: slowest, unit: 'ms' } };
    };
  },
});

/** As if the organizations had recorded so long: their counters, in the order of time. */
const makeTenants = ({ db }: Stack, { organizations, domains, days }: Tenants) =>
  db.run(
    (sql) => sql`
      with made as materialized (
        select 'org_many_' || n as organization, 'dom_many_' || n || '_' || d as domain
        from generate_series(1, ${organizations}::int) n, generate_series(1, ${domains}::int) d
      ),
      organizations_made as (
        insert into organizations (id, name, plan)
        select distinct organization, 'Many', (select name from plans limit 1) from made on conflict do nothing
      ),
      domains_made as (
        insert into domains (id, organization_id, name) select domain, organization, domain from made on conflict do nothing
      )
      insert into counters (organization_id, domain_id, period, accept_all, reject_all, custom, withdraw)
      select organization, domain, period, 61, 29, 8, 2
      from (select * from made union select organization, '' from made) places, (
        select distinct left((current_date - ago)::text, length) as period
        from generate_series(0, ${days}::int - 1) ago, unnest(array[7, 10]) length
      ) periods
      order by period
      on conflict do nothing`,
  );

const year = 365;

export const tenants = healing(
  'tenants',
  'when 1,000 organizations of 10 domains and a year are whole',
  30,
  (records) => ({
    organizations: records / 200,
    domains: 10,
    days: year,
  }),
);

export const thousands = healing('thousands', 'the same of three times as many', 90, (records) => ({
  organizations: (3 * records) / 200,
  domains: 10,
  days: year,
}));

export const giant = healing(
  'giant',
  'the same of one organization of 10,000 domains and three years',
  90,
  (records) => ({
    organizations: 1,
    domains: records / 20,
    days: 3 * year,
  }),
);
