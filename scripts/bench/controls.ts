/**
 * What the controls cost that can be switched off: limits, and a domain's list of origins. Two API processes of one build,
 * one with them and one without, get the same requests at the same time, so that what else the machine does meets both.
 * Some per cent are less than rates of a shared machine tell, so what is compared is the processor's time for each request.
 */
import type { AssentProcess } from '../stack/assent-process.ts';
import { type Load, runLoad } from './load.ts';
import { atMost, compared, type Row, type Scale } from './measurement.ts';
import { alongside } from './rounds.ts';
import type { Stack } from './stack.ts';

/** As much as may be set: every request is counted and none refused. The limit for failures comes with them. */
const limits = { RECORD_RATE_PER_MINUTE: '1000000', READ_RATE_PER_MINUTE: '10000000' };

export interface ControlledLoad {
  /** what both sides get */
  env: Record<string, string>;
  on: Load['send'];
  off: Load['send'];
  /** waits until the process answers as it will go on to */
  ready?: (baseUrl: string) => Promise<void>;
}

export async function controlsRow(
  name: string,
  stack: Stack,
  { pairs, pairSeconds }: Scale,
  { env, on, off, ready }: ControlledLoad,
): Promise<Row> {
  const begin = async (send: Load['send'], extra: Record<string, string>) => {
    const api = await stack.startApi({ ...env, ...extra });
    await ready?.(api.baseUrl);
    const load = (seconds: number) => runLoad(stack.dist, { baseUrl: api.baseUrl, seconds, send });
    // at the same time too: until both are as fast as they will be
    await load(3 * pairSeconds);
    return () => timePerRequest(api, () => load(pairSeconds));
  };
  const [reference, figure] = await Promise.all([begin(off, {}), begin(on, limits)]);
  const measured = await alongside(pairs, { reference, figure });
  // 8 % more time for each request
  return compared(`${name}: controls`, 'µs CPU', measured, atMost(1.08));
}

/** Microseconds of the processor that an API process takes for each request of a load. */
async function timePerRequest(api: AssentProcess, load: () => Promise<unknown>): Promise<number> {
  const before = await used(api);
  await load();
  const after = await used(api);
  return ((after.seconds - before.seconds) * 1_000_000) / (after.requests - before.requests);
}

async function used({ opsUrl }: AssentProcess): Promise<{ seconds: number; requests: number }> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text();
  const read = (name: string) => {
    const lines = text.matchAll(new RegExp(`^${name}(?:{.*})? (\\S+)$`, 'gm'));
    return Array.from(lines, ([, value]) => Number(value)).reduce((sum, value) => sum + value, 0);
  };
  return { seconds: read('process_cpu_seconds_total'), requests: read('assent_http_request_duration_seconds_count') };
}
