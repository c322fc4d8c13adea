import { setTimeout as sleep } from 'node:timers/promises';
import { cpuTime } from '../cpu-time.ts';
import type { Figures } from '../figures.ts';
import { bareKoa, compare, type Prepare } from '../measurement.ts';

/** milliseconds that the oldest waiting job may have waited, and between two looks at it */
const mayWait = 150;
const lookEvery = 25;

/** The client is paused while the oldest job has waited too long, so that what is offered is what is stored. */
export const sustainRounds: Prepare = async (stack, { seconds }) => {
  const [api, worker] = await Promise.all([stack.startApi(), stack.startWorker()]);
  const warmUp = Math.min(2, seconds / 2);
  return async () => {
    const load = stack.startLoad({ baseUrl: api.baseUrl, send: { sites: stack.sites }, seconds: warmUp + seconds + 1 });
    const keepQueueShort = async (forSeconds: number) => {
      const end = performance.now() + forSeconds * 1_000;
      while (performance.now() < end) {
        if (Date.now() - (await stack.oldestWaiting()) > mayWait) load.pause();
        else load.resume();
        await sleep(lookEvery);
      }
    };
    const processes = Object.entries({ API: api.pid, worker: worker.pid, ...stack.pids, client: load.pid });
    const look = async () => {
      const stored = await stack.stored();
      return { stored, at: performance.now(), used: processes.map(([, pid]) => cpuTime(pid)) };
    };
    try {
      await keepQueueShort(warmUp);
      const first = await look();
      await keepQueueShort(seconds);
      const last = await look();
      load.resume();
      const { failed } = await load.result;
      if (failed > 0) throw new Error(`${failed} requests failed`);
      await stack.untilQuiet();
      const stored = last.stored - first.stored;
      if (stored === 0) throw new Error('no record was stored');
      const figures: Figures = { sustain: { value: (stored / (last.at - first.at)) * 1_000, unit: 'records/s' } };
      processes.forEach(([name], at) => {
        const value = ((last.used[at] ?? 0) - (first.used[at] ?? 0)) / stored;
        figures[`sustain: ${name}`] = { value, unit: 'µs CPU' };
      });
      return figures;
    } finally {
      load.resume();
      await load.stop();
    }
  };
};

export const sustain = compare(
  'sustain',
  'records/s stored end to end with no growing backlog ÷ bare Koa, and the CPU time that each record takes',
  0.6,
  bareKoa('sustain'),
  sustainRounds,
);
