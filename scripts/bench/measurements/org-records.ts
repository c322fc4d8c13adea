import { getRequest, openConnection } from '../connection.ts';
import { organizationId } from '../data-sets.ts';
import { atMost, type Measurement, single } from '../measurement.ts';
import { quantile } from '../quantiles.ts';

const path = '/v1/consent/org-stats';
const warmUp = 20;
const reads = 100;

export const orgRecords: Measurement = {
  name: 'org-records',
  about: 'org-stats with its 500 raw records, of an organization with 200 domains',
  run: async (bench, { large }) => {
    const stack = await bench.kept(large);
    const { baseUrl } = await stack.startApi();
    const connection = await openConnection(baseUrl);
    const request = getRequest(baseUrl, path, stack.token(organizationId));
    const times: number[] = [];
    for (let read = -warmUp; read < reads; read += 1) {
      const started = performance.now();
      const { status } = await connection.send(request);
      if (status !== 200) throw new Error(`org-stats answered ${status}`);
      if (read >= 0) times.push(performance.now() - started);
    }
    connection.close();
    const note = `p99 ${quantile(times, 0.99).toFixed(1)} ms`;
    return [{ ...single('org-records', 'ms p50', quantile(times, 0.5), atMost(30)), note }];
  },
};
