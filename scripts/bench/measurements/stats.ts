import { organizationId } from '../data-sets.ts';
import { runLoad } from '../load.ts';
import { atLeast, compared, type Measurement } from '../measurement.ts';
import { alternate } from '../rounds.ts';
import { statsPaths } from '../stats-paths.ts';
import { untilFromRedis } from '../stats-source.ts';

export const stats: Measurement = {
  name: 'stats',
  about: 'GET stats over 20 months ÷ a Koa GET that only verifies the same token',
  run: async (bench, { rounds, seconds, small }) => {
    const stack = await bench.kept(small);
    const [bare, api] = await Promise.all([stack.startBare(), stack.startApi()]);
    const token = stack.token(organizationId);
    const paths = statsPaths();
    await untilFromRedis(api.baseUrl, paths[0] ?? '', token);
    const measure = ({ baseUrl }: { baseUrl: string }, duration = seconds) =>
      runLoad(stack.dist, { baseUrl, seconds: duration, send: { paths, token } });
    for (const each of [bare, api]) await measure(each, Math.min(2, seconds));
    const measured = await alternate(rounds, { reference: () => measure(bare), figure: () => measure(api) });
    return [compared('stats', 'requests/s', measured, atLeast(0.5))];
  },
};
