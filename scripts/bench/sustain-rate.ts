/**
 * Records a second that go all the way, API to Postgres and counters, with no growing backlog: the client is held still
 * while the oldest waiting job is older than a moment, so that what is offered is what is stored.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Site } from './bodies.ts';
import { type Design, untilEmpty } from './designs.ts';
import { startLoad } from './load.ts';
import { processorTime } from './processor.ts';

/** milliseconds that the oldest waiting job may have waited */
const mayWait = 150;
/** milliseconds between two looks, which take of the same processors */
const lookEvery = 25;

export interface Sustained {
  recordsPerSecond: number;
  /** microseconds of the processor for each record, of each of the watched processes and of the client */
  spent: Record<string, number>;
}

export interface SustainedLoad {
  dist: string;
  baseUrl: string;
  sites: Site[];
  seconds: number;
  /** process ids by name */
  watched?: Record<string, number>;
}

export async function sustainRate(
  design: Design,
  { dist, baseUrl, sites, seconds, watched = {} }: SustainedLoad,
): Promise<Sustained> {
  const warmUp = Math.min(2, seconds / 2);
  const load = startLoad(dist, { baseUrl, seconds: Math.ceil(warmUp + seconds) + 1, send: { sites } });
  const gate = keepQueueShort(design, load);
  const processes = Object.entries({ ...watched, client: load.pid });
  const look = async () => {
    const stored = await design.stored();
    return { stored, at: performance.now(), used: processes.map(([, pid]) => processorTime(pid)) };
  };
  try {
    await sleep(warmUp * 1_000);
    const first = await look();
    await sleep(seconds * 1_000);
    const last = await look();
    await gate.open();
    await load.measured;
    await untilEmpty(design);
    const stored = last.stored - first.stored;
    const spent = processes.map(([name], at) => [name, ((last.used[at] ?? 0) - (first.used[at] ?? 0)) / stored]);
    return {
      recordsPerSecond: (stored / (last.at - first.at)) * 1_000,
      spent: Object.fromEntries(spent),
    };
  } finally {
    await gate.open();
    await load.stop();
  }
}

/** `open` lets the client go on for good. */
function keepQueueShort(design: Design, load: { pause(): void; resume(): void }) {
  let isOpen = false;
  const watch = async () => {
    while (!isOpen) {
      const since = await design.oldestWaiting();
      if (isOpen) break;
      if (since !== null && Date.now() - since > mayWait) load.pause();
      else load.resume();
      await sleep(lookEvery);
    }
    load.resume();
  };
  const watching = watch();
  return {
    open: async () => {
      isOpen = true;
      await watching;
    },
  };
}
