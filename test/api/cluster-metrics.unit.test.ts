import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { addUp } from '../../apps/api/cluster-metrics.ts';

const answerOf = async (value: number) => {
  const register = new Registry();
  const registers = [register];
  new Counter({ name: 'records', help: 'a count', registers }).inc(value);
  new Histogram({ name: 'duration', help: 'durations', buckets: [1], registers }).observe(value);
  new Gauge({ name: 'usable', help: 'the worst', aggregator: 'min', registers }).set(value);
  new Gauge({ name: 'lag', help: 'a mean, as of the event loop', aggregator: 'average', registers }).set(value);
  return JSON.parse(JSON.stringify(await register.getMetricsAsJSON()));
};

it('metrics of several processes are sums, or those of the worst; who is gone is still counted', async () => {
  const [one, other, gone] = [await answerOf(1), await answerOf(5), await answerOf(100)];
  const text = await addUp([one, other], [gone]).metrics();
  for (const line of ['records 106', 'duration_count 3', 'duration_bucket{le="1"} 1', 'usable 1', 'lag 5'])
    expect(text.split('\n')).toContain(line);
  expect(await addUp([], [one]).metrics()).not.toContain('lag');
});
