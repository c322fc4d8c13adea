import { setTimeout as sleep } from 'node:timers/promises';
import type { Site } from '../../stack/sites.ts';
import { untilTrue } from '../../stack/wait.ts';
import { type Figures, figuresOver, type Look, look, type Round } from '../figures.ts';
import { bareKoa, expectAnswers, fullLoad, load, type Measurement, persistAlone, startLoad } from '../measurement.ts';
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
  targets: { sustain: 'at least 0.6' },
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
        ...figuresOver(name, [first, last]),
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

export const accept: Measurement = {
  name: 'accept',
  about: 'records that one API process acknowledges a second, without a worker ÷ bare Koa',
  reference: bareKoa('accept'),
  figure: async ({ sites, startApi }, { seconds }) =>
    fullLoad('accept', await startApi(), { seconds, send: { sites } }),
  targets: { accept: 'at least 0.85' },
};

/** so many at once that an API process makes jobs of some 25 records of them */
const connections = 50;

/** The backlog is the API's own. A worker is timed from a tenth of it on, when it is warm. */
export const drain: Measurement = {
  name: 'drain',
  about: 'records/s of one worker on a backlog ÷ the bare persist statement at 500 rows; bytes of a queued record',
  reference:
    async (stack, { records }) =>
    () =>
      persistAlone(stack, { name: 'drain', client: 'worker', records: records / 2 }),
  figure:
    async (stack, { records }) =>
    async () => {
      const before = await stack.stored();
      const api = await stack.startApi();
      const sent = { baseUrl: api.baseUrl, send: { sites: stack.sites }, count: records, connections };
      const { failed } = await load(sent);
      if (failed > 0) throw new Error(`${failed} records were not acknowledged`);
      await api.stop();
      const bytes = (await stack.redisBytes()) / records;
      const worker = await stack.startWorker();
      const pids = { worker: worker.pid, Postgres: stack.pids.Postgres };
      let first: Look | undefined;
      let last: Look | undefined;
      const isStored = async () => {
        last = look((await stack.stored()) - before, pids);
        if (last.stored >= records / 10) first ??= last;
        return last.stored >= records;
      };
      await untilTrue(isStored, 'the backlog is stored');
      await stack.untilQuiet();
      await worker.stop();
      if (!first || !last || first === last) throw new Error('the backlog was gone before it could be timed');
      if ((await stack.stored()) - before !== records) throw new Error('records are lost or doubled');
      return {
        ...figuresOver('drain', [first, last]),
        'drain: queued record': { value: bytes, unit: 'bytes of Redis' },
      };
    },
  targets: { drain: 'at least 0.6' },
};
