import { controlsRow } from '../controls.ts';
import { organizationId } from '../data-sets.ts';
import { runLoad } from '../load.ts';
import { atLeast, compared, type Measurement } from '../measurement.ts';
import { alternate } from '../rounds.ts';
import { statsPaths } from '../stats-paths.ts';
import { untilFromRedis } from '../stats-source.ts';

export const stats: Measurement = {
  name: 'stats',
  about: 'GET stats over 20 months ÷ a Koa GET that only verifies the same token',
  run: async (bench, scale) => {
    const { rounds, seconds, small } = scale;
    const stack = await bench.kept(small);
    const [bare, api] = await Promise.all([stack.startBare(), stack.startApi()]);
    const token = stack.token(organizationId);
    const paths = statsPaths();
    const ready = (baseUrl: string) => untilFromRedis(baseUrl, paths[0] ?? '', token);
    await ready(api.baseUrl);
    const measure = ({ baseUrl }: { baseUrl: string }, duration = seconds) =>
      runLoad(stack.dist, { baseUrl, seconds: duration, send: { paths, token } });
    for (const each of [bare, api]) await measure(each, Math.min(2, seconds));
    const measured = await alternate(rounds, { reference: () => measure(bare), figure: () => measure(api) });
    await stack.reset();
    const send = { paths, token };
    const controls = await controlsRow('stats', stack, scale, { env: {}, on: send, off: send, ready });
    return [compared('stats', 'requests/s', measured, atLeast(0.5)), controls];
  },
};
