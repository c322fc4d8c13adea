import { Queue } from 'bullmq';
import { packJob } from '#libs/contract/job';
import { queuePrefix, recordQueue } from '#libs/queue/names';
import { waitUntil } from '../../stack/wait.ts';
import { cpuTime } from '../cpu-time.ts';
import type { Figures } from '../figures.ts';
import type { Scale } from '../measurement.ts';
import { makeRecord } from '../requests.ts';
import type { Stack } from '../stack.ts';

const workerCounts = [1, 2, 4];
/** of one job, as an API under load makes them */
const batch = 50;
const lookEvery = 20;

/**
 * A backlog of one domain, then one of 20 domains of 5 organizations, taken by 1, 2 and 4 workers: all records of an
 * organization change the same rows of counters, so its statements wait for each other where those of others do not.
 */
export async function oneOrganization(stack: Stack, { records }: Scale): Promise<Figures> {
  const figures: Figures = {};
  const all = stack.sites.map(({ domainId }) => domainId);
  for (const workers of workerCounts) {
    const name = `capacity: one organization, ${workers} worker${workers > 1 ? 's' : ''}`;
    const one = await drainOf(stack, all.slice(0, 1), records / 4, workers);
    const many = await drainOf(stack, all, records / 4, workers);
    figures[name] = { value: one.rate, unit: 'records/s' };
    figures[`${name} ÷ five`] = { value: one.rate / many.rate, unit: '' };
    figures[`${name}: Postgres`] = { value: one.postgres, unit: 'µs CPU' };
    figures[`${name}: statements that wait`] = { value: one.waiting, unit: '' };
  }
  return figures;
}

async function drainOf(stack: Stack, domainIds: string[], records: number, workers: number) {
  await stack.reset();
  const queue = new Queue(recordQueue(0), { connection: stack.redis, prefix: queuePrefix });
  await queue.pause();
  for (let from = 0; from < records; from += batch) {
    const made = Array.from({ length: batch }, (_, at) => makeRecord(domainIds, from + at, Date.now()));
    await queue.add('record', packJob(made), { attempts: 5 });
  }
  const running = await Promise.all(Array.from({ length: workers }, () => stack.startWorker()));
  const postgres = cpuTime(stack.pids.Postgres);
  const started = performance.now();
  await queue.resume();
  const waits: number[] = [];
  const isStored = async () => {
    waits.push(await countWaiting(stack));
    return (await stack.stored()) >= records;
  };
  if (!(await waitUntil(isStored, { deadlineMs: 120_000, intervalMs: lookEvery })))
    throw new Error('not all are stored');
  const rate = (records / (performance.now() - started)) * 1_000;
  const used = cpuTime(stack.pids.Postgres) - postgres;
  await stack.untilQuiet();
  await Promise.all(running.map((worker) => worker.stop()));
  await queue.close();
  return { rate, postgres: used / records, waiting: waits.reduce((sum, each) => sum + each, 0) / waits.length };
}

/** For a row that another statement is changing. */
async function countWaiting({ db }: Stack): Promise<number> {
  const [row] = await db.run(
    (sql) => sql<{ n: number }[]>`
      select count(*)::int as n from pg_stat_activity
      where application_name = 'assent-worker' and wait_event_type = 'Lock'`,
  );
  return row?.n ?? 0;
}
