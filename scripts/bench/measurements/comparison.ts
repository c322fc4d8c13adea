import { createDatabase } from '#libs/base/db/database';
import { createBaseMetrics } from '#libs/base/ops/metrics';
import { createLog } from '#libs/base/ops/process-log';
import { connectRedis } from '#libs/base/redis/connection';
import { addDays, addMonths, dayOf, monthOf } from '#libs/base/terms/calendar';
import { eachOrganization } from '#libs/stats/each-organization';
import { createStatsMetrics } from '#libs/stats/metrics';
import { noteServer, reconcile } from '#libs/stats/reconcile';
import { fill } from '#libs/stats/redis/fill';
import { listCounters, listOrganizationIds } from '#libs/stats/stored-counters';
import { atMost } from '../figures.ts';
import type { Measurement } from '../measurement.ts';
import { makeOrganizations } from '../organizations.ts';

/** Of so many organizations one has lost counts with the Postgres before. */
const differsOneOf = 100;
/** Ten weeks, of which some days are older than usual rounds look at. */
const periods = [
  ...[0, 12, 24, 36, 48, 60, 72].map((ago) => addDays(dayOf(Date.now()), -ago)),
  ...[0, 1, 2].map((ago) => addMonths(monthOf(Date.now()), -ago)),
];
const { signal } = new AbortController();

/** How long statistics may be wrong after a failover of Postgres, with a worker's connections to both stores. */
export const comparison: Measurement = {
  name: 'comparison',
  about: 'one comparison of all counters with another Postgres: 100,000 organizations of one domain, 20 counters each',
  figure: async (stack, { records }) => {
    const order = 'organization, domain, period';
    await makeOrganizations(stack, { name: 'one', organizations: records / 2, domains: 1, periods, order });
    const timeouts = { statementTimeout: 8_000, deadline: 10_000 };
    const db = createDatabase({ url: stack.databaseUrl, max: 6, ...timeouts, prepare: true, name: 'bench-worker' });
    const log = createLog('bench', 'fatal');
    const redis = connectRedis({ url: stack.redisUrl, clusterNodes: [] }, 'producer', log);
    stack.onStop(() => Promise.all([redis.close(), db.close()]));
    await new Promise((resolve) => redis.client.once('ready', resolve));
    const parts = { redis, db, log, metrics: createStatsMetrics(createBaseMetrics().register) };
    const fills = async () => (await parts.metrics.fills.get()).values[0]?.value ?? 0;
    const fillOne = async (id: string) => {
      await fill(redis, id, (after, limit) => db.read((sql) => listCounters(sql, id, after, limit)));
    };
    await eachOrganization(parts, await stack.db.read(listOrganizationIds), signal, fillOne, 30);

    return async () => {
      const [changed] = await stack.db.write(
        (sql) => sql<{ organizations: number }[]>`
          with changed as (
            update counters set accept_all = accept_all - 1
            where organization_id in (select id from organizations where number % ${differsOneOf} = 0)
            returning organization_id
          )
          select count(distinct organization_id)::int as organizations from changed`,
      );
      const filled = await fills();
      const seconds = async () => {
        const [started, cpu] = [performance.now(), process.cpuUsage()];
        await reconcile(parts, signal);
        const { user, system } = process.cpuUsage(cpu);
        return { all: (performance.now() - started) / 1_000, ofCpu: (user + system) / 1_000_000 };
      };
      await noteServer(redis.client, 'another one');
      const first = await seconds();
      const repaired = (await fills()) - filled;
      if (repaired !== changed?.organizations)
        throw new Error(`${repaired} organizations were repaired of ${changed?.organizations} that differ`);
      const then = await seconds();
      return {
        'comparison: another Postgres': { value: first.all, unit: 's' },
        'comparison: another Postgres: worker': { value: first.ofCpu, unit: 's CPU' },
        'comparison: a usual round': { value: then.all, unit: 's' },
      };
    };
  },
  targets: { 'comparison: another Postgres': atMost(60), 'comparison: a usual round': atMost(12) },
};
