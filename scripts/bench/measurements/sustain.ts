import { setTimeout as sleep } from 'node:timers/promises';
import type { Site } from '../../stack/client.ts';
import { figuresBetween, look } from '../cpu-time.ts';
import { atLeast, type Figures, type Round } from '../figures.ts';
import { bareKoa, type Measurement } from '../measurement.ts';
import { expectAnswers, startLoad } from '../programs.ts';
import type { Server, Stack } from '../stack.ts';

/** milliseconds that the oldest waiting job may have waited, and between two looks at it */
const mayWait = 150;
const lookEvery = 25;
/** seconds for what runs afterwards */
const probing = 2;

/** The client is paused while the oldest job has waited too long, so that what is offered is what is stored. */
export const sustain: Measurement = {
  name: 'sustain',
  about: 'records/s stored end to end with no growing backlog ÷ bare Koa, and the CPU time that each record takes',
  reference: bareKoa('sustain'),
  figure: async (stack, { seconds }) => sustained('sustain', stack, seconds),
  targets: { sustain: atLeast(0.6) },
};

interface Sustaining {
  /** the worker's */
  settings?: Record<string, string>;
  /** default: all of the stack */
  sites?: Site[];
  /** requests a second; default: as many as are stored */
  rate?: number | undefined;
  /** runs under the same load once that was measured; default: nothing */
  afterwards?: (api: Server) => Promise<Figures>;
}

/** A round with a worker of these settings. */
export async function sustained(
  name: string,
  stack: Stack,
  seconds: number,
  { settings = {}, sites = stack.sites, rate, afterwards }: Sustaining = {},
): Promise<Round> {
  const [api, worker] = await Promise.all([stack.startApi(), stack.startWorker(settings)]);
  const warmUp = Math.min(2, seconds / 2);
  return async () => {
    const load = startLoad({
      baseUrl: api.baseUrl,
      send: { sites },
      seconds: warmUp + seconds + 1 + (afterwards ? probing : 0),
      ...(rate && { rate }),
    });
    const keepQueueShort = async (forSeconds: number) => {
      const end = performance.now() + forSeconds * 1_000;
      while (performance.now() < end) {
        if (rate === undefined && Date.now() - (await stack.oldestWaiting()) > mayWait) load.pause();
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
      const [found] = afterwards ? await Promise.all([afterwards(api), keepQueueShort(probing)]) : [];
      load.resume();
      const result = await load.result;
      expectAnswers(result);
      await stack.untilQuiet();
      if (last.stored === first.stored) throw new Error('no record was stored');
      return {
        ...figuresBetween(name, first, last),
        // of a client that was paused it says nothing
        ...(rate && { [`${name}: p99`]: { value: result.p99, unit: 'ms' } }),
        ...found,
      };
    } finally {
      load.resume();
      await load.stop();
    }
  };
}
