import { setTimeout as sleep } from 'node:timers/promises';
import { figuresBetween, look } from '../cpu-time.ts';
import { atLeast, type Round } from '../figures.ts';
import { bareKoa, type Measurement } from '../measurement.ts';
import { expectAnswers, startLoad } from '../programs.ts';
import type { Stack } from '../stack.ts';

/** milliseconds that the oldest waiting job may have waited, and between two looks at it */
const mayWait = 150;
const lookEvery = 25;

/** The client is paused while the oldest job has waited too long, so that what is offered is what is stored. */
export const sustain: Measurement = {
  name: 'sustain',
  about: 'records/s stored end to end with no growing backlog ÷ bare Koa, and the CPU time that each record takes',
  comparable: true,
  reference: bareKoa('sustain'),
  figure: async (stack, { seconds }) => sustained('sustain', stack, seconds),
  targets: { sustain: atLeast(0.6) },
};

/** A round with a worker of these settings. */
export async function sustained(
  name: string,
  stack: Stack,
  seconds: number,
  settings: Record<string, string> = {},
): Promise<Round> {
  const [api, worker] = await Promise.all([stack.startApi(), stack.startWorker(settings)]);
  const warmUp = Math.min(2, seconds / 2);
  return async () => {
    const load = startLoad({ baseUrl: api.baseUrl, send: { sites: stack.sites }, seconds: warmUp + seconds + 1 });
    const keepQueueShort = async (forSeconds: number) => {
      const end = performance.now() + forSeconds * 1_000;
      while (performance.now() < end) {
        if (Date.now() - (await stack.oldestWaiting()) > mayWait) load.pause();
        else load.resume();
        await sleep(lookEvery);
      }
    };
    const pids = { API: api.pid, worker: worker.pid, ...stack.pids, client: load.pid };
    try {
      await keepQueueShort(warmUp);
      const first = look(await stack.stored(), pids);
      await keepQueueShort(seconds);
      const last = look(await stack.stored(), pids);
      load.resume();
      expectAnswers(await load.result);
      await stack.untilQuiet();
      if (last.stored === first.stored) throw new Error('no record was stored');
      return figuresBetween(name, first, last);
    } finally {
      load.resume();
      await load.stop();
    }
  };
}
