/**
 * Records a second that go all the way, API to Postgres and counters, with no growing backlog: the client is held still
 * while the oldest waiting job is older than a moment, so that what is offered is what is stored.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Site } from './bodies.ts';
import { type Design, untilEmpty } from './designs.ts';
import { startLoad } from './load.ts';

/** milliseconds that the oldest waiting job may have waited */
const mayWait = 150;

export async function sustainRate(
  design: Design,
  { dist, baseUrl, sites, seconds }: { dist: string; baseUrl: string; sites: Site[]; seconds: number },
): Promise<number> {
  const warmUp = Math.min(2, seconds / 2);
  const load = startLoad(dist, { baseUrl, seconds: Math.ceil(warmUp + seconds), send: { sites } });
  const gate = keepQueueShort(design, load);
  try {
    await sleep(warmUp * 1_000);
    const first = { stored: await design.stored(), at: performance.now() };
    await sleep(seconds * 1_000);
    const last = { stored: await design.stored(), at: performance.now() };
    await gate.open();
    await load.measured;
    await untilEmpty(design);
    return ((last.stored - first.stored) / (last.at - first.at)) * 1_000;
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
      await sleep(10);
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
