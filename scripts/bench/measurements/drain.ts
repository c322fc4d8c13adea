import { untilTrue } from '../../stack/wait.ts';
import { figuresBetween, type Look, look } from '../cpu-time.ts';
import { atLeast } from '../figures.ts';
import type { Measurement } from '../measurement.ts';
import { load, persistAlone } from '../programs.ts';

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
        ...figuresBetween('drain', first, last),
        'drain: queued record': { value: bytes, unit: 'bytes of Redis' },
      };
    },
  targets: { drain: atLeast(0.6) },
};
