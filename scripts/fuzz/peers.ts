/** Records next to callers that send valid HTTP in the costliest way, compared with a control that sends as much. */
import { setTimeout as sleep } from 'node:timers/promises';
import { callersOf, mostSlower, quantile, startPeer } from '../chaos/peers.ts';
import { type FuzzedSite, record } from './run.ts';

const records = 60;
/** milliseconds between two records, and below which a control counts as so much: two shared cores are no laboratory */
const pause = 50;
const floor = 100;

/** The result of each kind, and whether a record took at most three times as long as next to the control. */
export async function recordBesidePeers(site: FuzzedSite): Promise<Record<string, boolean>> {
  const checks: Record<string, boolean> = {};
  const port = Number(new URL(site.baseUrl).port);
  for (const caller of callersOf(site, site.token)) {
    const took: number[] = [];
    for (const plain of [true, false]) {
      const peer = await startPeer({ ...caller, plain, port });
      const times: number[] = [];
      const under: Promise<void>[] = [];
      for (let count = 0; count < records; count += 1) {
        under.push(timeRecord(site).then((time) => void times.push(time)));
        await sleep(pause);
      }
      await Promise.all(under);
      took.push(quantile(times, 0.95));
      await peer.end();
    }
    const [control = 0, found = 0] = took;
    checks[`${caller.name}: a record took ${control.toFixed(0)} → ${found.toFixed(0)} ms`] =
      found <= mostSlower * Math.max(control, floor);
  }
  return checks;
}

async function timeRecord(site: FuzzedSite): Promise<number> {
  const start = performance.now();
  const status = await record(site);
  return status === 202 ? performance.now() - start : Number.POSITIVE_INFINITY;
}
