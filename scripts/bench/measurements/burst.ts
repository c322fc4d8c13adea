import { atMost } from '../figures.ts';
import type { Measurement } from '../measurement.ts';
import { peakMemory } from '../memory.ts';
import { startLoad } from '../programs.ts';
import type { Stack } from '../stack.ts';

export const burst: Measurement = {
  name: 'burst',
  about: 'records as fast as the API takes them: lost, doubled, time to quiet, memory',
  figure: async (stack, { records: count }) => {
    const [api, worker] = await Promise.all([stack.startApi(), stack.startWorker()]);
    return async () => {
      const load = startLoad({ baseUrl: api.baseUrl, send: { sites: stack.sites, ids: true }, count });
      const { acknowledged, seconds, failed } = await load.result;
      const ended = performance.now();
      await stack.untilQuiet();
      const toQuiet = (performance.now() - ended) / 1_000;
      const { lost, doubled } = await check(stack, acknowledged);
      if (lost + doubled > 0) throw new Error(`${lost} records are lost, ${doubled} are doubled`);
      return {
        'burst: acknowledged': { value: acknowledged.length, unit: 'records' },
        'burst: refused': { value: failed, unit: 'records' },
        'burst: lost': { value: lost, unit: 'records' },
        'burst: doubled': { value: doubled, unit: 'records' },
        'burst: accepted': { value: acknowledged.length / seconds, unit: 'records/s' },
        'burst: time to quiet': { value: toQuiet, unit: 's' },
        'burst: API peak RSS': { value: peakMemory(api.pid) / 1e6, unit: 'MB' },
        'burst: worker peak RSS': { value: peakMemory(worker.pid) / 1e6, unit: 'MB' },
      };
    };
  },
  targets: {
    'burst: lost': atMost(0),
    'burst: doubled': atMost(0),
    'burst: API peak RSS': atMost(250),
    'burst: worker peak RSS': atMost(250),
  },
};

/** A record may be lost or doubled in the table, and in the counts. */
async function check(stack: Stack, acknowledged: string[]) {
  const [row] = await stack.db.run(
    (sql) => sql<{ stored: number; distinct: number; missing: number }[]>`
      with stored as materialized (select id from records)
      select
        (select count(*) from stored)::int as stored,
        (select count(distinct id) from stored)::int as distinct,
        (select count(*) from unnest(${acknowledged}::uuid[]) as sent (id)
         where not exists (select from stored where stored.id = sent.id))::int as missing`,
  );
  const { stored = 0, distinct = 0, missing = Number.NaN } = row ?? {};
  const uncounted = stored - (await stack.stored());
  return { lost: missing + Math.max(0, uncounted), doubled: stored - distinct + Math.max(0, -uncounted) };
}
