import { Queue } from 'bullmq';
import pLimit from 'p-limit';
import { packJob, queuePrefix, recordQueue } from '#libs/record/queue';
import { newKey } from '../../stack/private-stores.ts';
import { untilTrue } from '../../stack/wait.ts';
import { figuresBetween, look } from '../cpu-time.ts';
import type { Figures } from '../figures.ts';
import type { Measurement, Scale } from '../measurement.ts';
import { makeRecord } from '../requests.ts';
import type { Stack } from '../stack.ts';
import { sustained } from './sustain.ts';

/** A worker's, to seal each second; for so many seconds at least. */
export const sealing = { LOG_NAME: 'bench', LOG_KEY: newKey(), SEAL_SECONDS: '1' };
const shortest = 6;
const jobSizes = [1, 2, 5, 25];
const shardCounts = [1, 16];
const workerCounts = [1, 2, 4];
/** of one job, as an API under load makes them */
const usualSize = 50;
/** jobs on their way to Redis at once */
const addsAtOnce = 50;

/** CPU time. What a record takes of memory and disk, `drain`, `disk`, `seal` and `tenants` say. */
export const capacity: Measurement = {
  name: 'capacity',
  about: 'CPU time of a record with sealing, end to end; in small jobs; one organization with 1, 2 and 4 workers',
  figure: async (stack, scale) => async () => ({
    ...(await endToEnd(stack, scale)),
    ...(await inSmallJobs(stack, scale)),
    ...(await ofOneOrganization(stack, scale)),
  }),
  targets: {},
};

async function endToEnd(stack: Stack, { seconds }: Scale): Promise<Figures> {
  await stack.reset();
  const round = await sustained('capacity', stack, Math.max(seconds, shortest), { settings: sealing });
  return round();
}

/** Many API processes and many shards make small jobs, and so does little load. */
async function inSmallJobs(stack: Stack, { records }: Scale): Promise<Figures> {
  const figures: Figures = {};
  const { domainIds } = stack;
  for (const shards of shardCounts) {
    const { drain, stop } = await startWorkers(stack, { shards });
    for (const size of jobSizes) {
      const name = `jobs: ${size} a job, ${shards} shard${shards > 1 ? 's' : ''}`;
      Object.assign(figures, await drain({ name, domainIds, size, records: Math.min(size / 100, 0.1) * records }));
    }
    await stop();
  }
  return figures;
}

/**
 * A backlog of one domain, then one of 20 domains of 5 organizations: all records of an organization change the same rows
 * of counters, so its statements may have to wait for each other.
 */
async function ofOneOrganization(stack: Stack, { records }: Scale): Promise<Figures> {
  const figures: Figures = {};
  const all = stack.domainIds;
  for (const workers of workerCounts) {
    const name = `one organization, ${workers} worker${workers > 1 ? 's' : ''}`;
    const { drain, stop } = await startWorkers(stack, { workers });
    const backlog = { name, size: usualSize, records: records / 4 };
    const many = await drain({ ...backlog, domainIds: all });
    const one = await drain({ ...backlog, domainIds: all.slice(0, 1) });
    await stop();
    const ratio = (one[name]?.value ?? Number.NaN) / (many[name]?.value ?? Number.NaN);
    Object.assign(figures, one, { [`${name} ÷ five`]: { value: ratio, unit: '' } });
  }
  return figures;
}

/** Jobs of a given size, made here and not by an API. */
interface Backlog {
  /** of its figures */
  name: string;
  domainIds: string[];
  /** records of a job */
  size: number;
  /** records of all jobs */
  records: number;
}

/** Workers of their own for backlogs that follow each other, warm and with nothing sealed. */
async function startWorkers(stack: Stack, { workers = 1, shards = 1 }) {
  await stack.reset();
  const start = () => stack.startWorker({ QUEUE_SHARDS: String(shards) });
  const running = await Promise.all(Array.from({ length: workers }, start));
  const queues = Array.from(
    { length: shards },
    (_, shard) => new Queue(recordQueue(shard), { connection: stack.redis, prefix: queuePrefix }),
  );
  const pids = { worker: running[0]?.pid ?? Number.NaN, ...stack.pids };

  function add({ domainIds, size, records }: Backlog) {
    const atOnce = pLimit(addsAtOnce);
    const addOne = async (job: number) => {
      const made = Array.from({ length: size }, (_, at) => makeRecord(domainIds, job * size + at, Date.now()));
      await queues[job % shards]?.add('record', packJob(made), { attempts: 5 });
    };
    return Promise.all(Array.from({ length: Math.floor(records / size) }, (_, job) => atOnce(addOne, job)));
  }

  /** CPU time is that of one worker, and of Redis also for adding the jobs. */
  async function drain(backlog: Backlog): Promise<Figures> {
    const { name, size, records } = backlog;
    const count = records - (records % size);
    const before = await stack.stored();
    await Promise.all(queues.map((queue) => queue.pause()));
    const first = look(0, pids);
    await add(backlog);
    const started = performance.now();
    await Promise.all(queues.map((queue) => queue.resume()));
    const isStored = async () => (await stack.stored()) - before >= count;
    await untilTrue(isStored, 'the backlog is stored');
    const rate = (count / (performance.now() - started)) * 1_000;
    const countOpen = (queue: Queue) => queue.getJobCountByTypes('waiting', 'active', 'delayed');
    const isQuiet = async () => (await Promise.all(queues.map(countOpen))).every((open) => open === 0);
    await untilTrue(isQuiet, 'the queues empty');
    return { ...figuresBetween(name, first, look(count, pids)), [name]: { value: rate, unit: 'records/s' } };
  }

  async function stop(): Promise<void> {
    await Promise.all(running.map((worker) => worker.stop()));
    await Promise.all(queues.map((queue) => queue.close()));
  }
  await drain({ name: 'warm-up', domainIds: stack.domainIds, size: 5, records: 10_000 });
  return { drain, stop };
}
