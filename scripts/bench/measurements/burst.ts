/** Records as fast as the client can: what is lost or doubled, how long until quiet, and how much memory it takes. */
import { readFileSync } from 'node:fs';
import { dayOf } from '#libs/contract/calendar';
import { runChild } from '../child.ts';
import { getRequest, openConnection } from '../connection.ts';
import { assent, untilEmpty } from '../designs.ts';
import type { Flood, FloodResult } from '../flood.ts';
import { atMost, type Measurement, single } from '../measurement.ts';
import type { Stack } from '../stack.ts';
import { untilFromRedis } from '../stats-source.ts';

const connections = 256;

export const burst: Measurement = {
  name: 'burst',
  about: 'records as fast as the client can: lost, doubled, time to quiet, memory',
  run: async (bench, { burst: records }) => {
    const stack = await bench.empty();
    const bytes = await bytesPerQueuedRecord(stack, records);
    await stack.reset();

    const [api, worker] = await Promise.all([stack.startApi(), stack.startWorker()]);
    const { acknowledged, seconds, failed } = await flood(stack, api.baseUrl, records);
    const ended = performance.now();
    await untilEmpty(assent(stack));
    const toQuiet = (performance.now() - ended) / 1_000;
    const peaks = [api, worker].map((each) => peakMemory(each.process.pid));
    const { lost, doubled } = await check(stack, api.baseUrl, acknowledged);
    const note = `of ${acknowledged.length.toLocaleString('en-US')} acknowledged, ${failed} refused`;
    return [
      { ...single('burst: lost', 'records', lost, atMost(0)), note },
      single('burst: doubled', 'records', doubled, atMost(0)),
      single('burst: accepted', 'records/s', acknowledged.length / seconds),
      single('burst: time to quiet', 's', toQuiet),
      single('burst: API peak RSS', 'MB', peaks[0] ?? Number.NaN, atMost(250)),
      single('burst: worker peak RSS', 'MB', peaks[1] ?? Number.NaN, atMost(250)),
      single('burst: Redis per queued record', 'bytes', bytes, atMost(450)),
    ];
  },
};

const flood = (stack: Stack, baseUrl: string, records: number): Promise<FloodResult> =>
  runChild<FloodResult>(stack.dist, 'flood', { baseUrl, sites: stack.sites, records, connections } satisfies Flood);

/** Everything that Redis holds for them while no worker takes any: the jobs as the API made them, and the queue's lists. */
async function bytesPerQueuedRecord(stack: Stack, records: number): Promise<number> {
  const { baseUrl } = await stack.startApi();
  const { acknowledged } = await flood(stack, baseUrl, records);
  let bytes = 0;
  for await (const keys of stack.redis.scanStream({ count: 1_000 })) {
    const pipeline = stack.redis.pipeline();
    for (const key of keys as string[]) pipeline.memory('USAGE', key, 'SAMPLES', 0);
    for (const [, used] of (await pipeline.exec()) ?? []) bytes += Number(used);
  }
  return bytes / acknowledged.length;
}

/** Megabytes of the process at its largest. */
function peakMemory(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number(kilobytes) * 1_024) / 1_000_000;
}

/** A record may be lost or doubled in the table, and in the counts that the statistics show. */
async function check(stack: Stack, baseUrl: string, acknowledged: string[]) {
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
  const counted = await sumOfStats(stack, baseUrl);
  return {
    lost: missing + Math.max(0, stored - counted),
    doubled: stored - distinct + Math.max(0, counted - stored),
  };
}

async function sumOfStats(stack: Stack, baseUrl: string): Promise<number> {
  const connection = await openConnection(baseUrl);
  const [from, to] = [-1, 1].map((days) => dayOf(Date.now() + days * 86_400_000));
  let sum = 0;
  for (const { domainId, organizationId } of stack.sites) {
    const path = `/v1/consent/${domainId}/stats?from=${from}&to=${to}`;
    const token = stack.token(organizationId);
    await untilFromRedis(baseUrl, path, token);
    const { body } = await connection.send(getRequest(baseUrl, path, token));
    sum += (JSON.parse(body.toString()) as { total: number }).total;
  }
  connection.close();
  return sum;
}
