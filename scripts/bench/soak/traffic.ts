/** What goes on all the while: records, reads and exports. Each slice is a load generator with connections of its own. */

import { read, type Site } from '../../stack/client.ts';
import { median } from '../figures.ts';
import { statsPath } from '../measurement.ts';
import { startLoad } from '../programs.ts';
import type { Server, Stack } from '../stack.ts';

/** seconds */
const slice = 60;
/** reads a second, half of them statistics and half pages of the log */
const reads = 20;

const secondsLeft = (until: number): number => Math.min(slice, Math.max(1, (until - performance.now()) / 1_000));

/** `rate` records a second, until then. Latencies: the median of the slices' medians, and of the rest the worst. */
export async function sendUntil(until: number, { sites }: Stack, { baseUrl }: Server, rate: number) {
  const slices = [];
  while (performance.now() < until)
    slices.push(await startLoad({ baseUrl, send: { sites }, rate, seconds: secondsLeft(until) }).result);
  return {
    answered: slices.reduce((sum, { answered }) => sum + answered, 0),
    failed: slices.reduce((sum, { failed }) => sum + failed, 0),
    p50: median(slices.map(({ p50 }) => p50)),
    p99: Math.max(...slices.map(({ p99 }) => p99)),
    slowest: Math.max(...slices.map(({ slowest }) => slowest)),
  };
}

/** What dashboards ask, for a slice; returns how many requests failed. */
export async function readSome(until: number, { sites, token }: Stack, { baseUrl }: Server): Promise<number> {
  const [site] = sites;
  if (!site) throw new Error('there is no domain');
  const { organizationId, domainId } = site;
  const today = new Date().toISOString().slice(0, 10);
  const paths = [statsPath(domainId, today, today), `/v1/consent/${domainId}/records?limit=50`];
  const send = { paths, token: token(organizationId) };
  const { failed, refused } = await startLoad({
    baseUrl,
    send,
    rate: reads,
    connections: 16,
    seconds: secondsLeft(until),
  }).result;
  if (failed > 0) console.log(`${failed} reads failed: ${JSON.stringify(refused)}`);
  return failed;
}

/** True if it had all of that many records; a fault may cut it off. */
export async function exportAll({ token }: Stack, { baseUrl }: Server, site: Site, records: number): Promise<boolean> {
  try {
    const path = `/v1/consent/${site.domainId}/export?format=ndjson`;
    const text = await (await read(baseUrl + path, token(site.organizationId))).text();
    // a line that ends it
    return text.trimEnd().split('\n').length === records + 1;
  } catch {
    return false;
  }
}
