import { waitUntil } from '../../stack/wait.ts';
import { cpuTime } from '../cpu-time.ts';
import type { Figures } from '../figures.ts';
import { compare, type Prepare } from '../measurement.ts';
import type { PersistLoad } from '../persist.ts';
import type { Stack } from '../stack.ts';

export function persistAlone(stack: Stack, records: number, more: Partial<PersistLoad> = {}): Promise<Figures> {
  const { databaseUrl, sites, pids } = stack;
  const load: PersistLoad = { databaseUrl, sites, records, postgres: pids.Postgres, ...more };
  return stack.run<Figures>('persist', load);
}

/** so many at once that an API process makes jobs of some 25 records of them */
const connections = 50;

/** The backlog is the API's own. A worker is timed from a tenth of it on, when it is warm. */
const drainRounds: Prepare =
  async (stack, { records }) =>
  async () => {
    const before = await stack.stored();
    const api = await stack.startApi();
    await stack.load({ baseUrl: api.baseUrl, send: { sites: stack.sites }, count: records, connections });
    await api.stop();
    const bytes = (await stack.redisBytes()) / records;
    const worker = await stack.startWorker();
    const look = async () => ({
      stored: (await stack.stored()) - before,
      at: performance.now(),
      worker: cpuTime(worker.pid),
      Postgres: cpuTime(stack.pids.Postgres),
    });
    let first: Awaited<ReturnType<typeof look>> | undefined;
    let last = await look();
    const isStored = async () => {
      last = await look();
      if (last.stored >= records / 10) first ??= last;
      return last.stored >= records;
    };
    if (!(await waitUntil(isStored, { deadlineMs: 120_000 }))) throw new Error('the backlog is not stored');
    await stack.untilQuiet();
    await worker.stop();
    if (!first || first === last) throw new Error('the backlog was gone before it could be timed');
    const stored = last.stored - first.stored;
    return {
      drain: { value: (stored / (last.at - first.at)) * 1_000, unit: 'records/s' },
      'drain: worker': { value: (last.worker - first.worker) / stored, unit: 'µs CPU' },
      'drain: Postgres': { value: (last.Postgres - first.Postgres) / stored, unit: 'µs CPU' },
      'drain: queued record': { value: bytes, unit: 'bytes of Redis' },
      'drain: stored record': {
        value: (await stack.postgresBytes()) / (await stack.stored()),
        unit: 'bytes of Postgres',
      },
    };
  };

export const drain = compare(
  'drain',
  'records/s of one worker on a backlog ÷ the bare persist statement at 500 rows; bytes of a record',
  0.6,
  async (stack, { records }) =>
    () =>
      persistAlone(stack, records / 2),
  drainRounds,
);
