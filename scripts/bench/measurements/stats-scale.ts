import { organizationId } from '../data-sets.ts';
import { runLoad } from '../load.ts';
import { atLeast, compared, type Measurement } from '../measurement.ts';
import { alternate } from '../rounds.ts';
import type { Bench } from '../stack.ts';
import { orgStatsPath, statsPaths } from '../stats-paths.ts';
import { untilFromRedis } from '../stats-source.ts';

export const statsScale: Measurement = {
  name: 'stats-scale',
  about: 'GET stats, and the counters of org-stats, on the large data set ÷ on the small one',
  slow: true,
  run: async (bench, { rounds, seconds, large, small }) => {
    const [many, few] = [await begin(bench, large), await begin(bench, small)];
    const rows = [];
    for (const [name, paths] of [
      ['stats-scale: stats', statsPaths()],
      ['stats-scale: org-stats', [orgStatsPath]],
    ] as const) {
      for (const measure of [few, many]) await measure([...paths], 1);
      const measured = await alternate(rounds, {
        reference: () => few([...paths], seconds),
        figure: () => many([...paths], seconds),
      });
      rows.push(compared(name, 'requests/s', measured, atLeast(0.85)));
    }
    return rows;
  },
};

async function begin(bench: Bench, records: number) {
  const stack = await bench.kept(records);
  const { baseUrl } = await stack.startApi();
  const token = stack.token(organizationId);
  await untilFromRedis(baseUrl, orgStatsPath, token);
  return (paths: string[], seconds: number) => runLoad(stack.dist, { baseUrl, seconds, send: { paths, token } });
}
