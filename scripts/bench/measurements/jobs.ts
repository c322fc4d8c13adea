import { Queue } from 'bullmq';
import { packJob } from '#libs/contract/job';
import { queuePrefix, recordQueue } from '#libs/queue/names';
import { waitUntil } from '../../stack/wait.ts';
import { figuresBetween, look } from '../cpu-time.ts';
import type { Figures } from '../figures.ts';
import type { Measurement } from '../measurement.ts';
import { makeRecord } from '../requests.ts';
import type { Server, Stack } from '../stack.ts';

const sizes = [1, 2, 5, 25];
const shardCounts = [1, 16];
/** Of `records`: a backlog of jobs of one record, and of large jobs. */
const [least, most] = [0.01, 0.1];
/** jobs on their way to Redis at once */
const addsAtOnce = 50;

/** Many API processes and many shards make small jobs, and so does little load. Nothing is sealed meanwhile. */
export const jobs: Measurement = {
  name: 'jobs',
  about: 'what a record takes of one worker and of Redis in jobs of 1, 2, 5 and 25 records, on 1 and 16 shards',
  figure:
    async (stack, { records }) =>
    async () => {
      const figures: Figures = {};
      for (const shards of shardCounts) {
        await stack.reset();
        const worker = await stack.startWorker({ QUEUE_SHARDS: String(shards) });
        const queues = Array.from(
          { length: shards },
          (_, shard) => new Queue(recordQueue(shard), { connection: stack.redis, prefix: queuePrefix }),
        );
        const drain = async (size: number) => {
          const count = Math.min(least * size, most) * records;
          const name = `jobs: ${size} record${size > 1 ? 's' : ''}, ${shards} shard${shards > 1 ? 's' : ''}`;
          return drainOf(stack, { queues, worker, size, count: count - (count % size), name });
        };
        // until it is warm
        await drain(5);
        for (const size of sizes) Object.assign(figures, await drain(size));
        await Promise.all(queues.map((queue) => queue.close()));
      }
      return figures;
    },
  targets: {},
};

interface Backlog {
  queues: Queue[];
  worker: Server;
  /** records of a job */
  size: number;
  /** records of all jobs */
  count: number;
  name: string;
}

/** Redis' time is that for adding the jobs, and for handing them out and completing them. */
async function drainOf(stack: Stack, { queues, worker, size, count, name }: Backlog): Promise<Figures> {
  const domainIds = stack.sites.map(({ domainId }) => domainId);
  const pids = { worker: worker.pid, Redis: stack.pids.Redis };
  const before = await stack.stored();
  await Promise.all(queues.map((queue) => queue.pause()));
  const first = look(0, pids);
  const add = (from: number) => {
    const made = Array.from({ length: size }, (_, at) => makeRecord(domainIds, from + at, Date.now()));
    return queues[(from / size) % queues.length]?.add('record', packJob(made), { attempts: 5 });
  };
  for (let from = 0; from < count; from += size * addsAtOnce) {
    const starts = Array.from({ length: addsAtOnce }, (_, at) => from + at * size);
    await Promise.all(starts.filter((start) => start < count).map(add));
  }
  const started = performance.now();
  await Promise.all(queues.map((queue) => queue.resume()));
  const isStored = async () => (await stack.stored()) - before >= count;
  if (!(await waitUntil(isStored, { deadlineMs: 120_000 }))) throw new Error('the backlog is not stored');
  const rate = (count / (performance.now() - started)) * 1_000;
  const countOpen = (queue: Queue) => queue.getJobCountByTypes('waiting', 'active', 'delayed');
  const isQuiet = async () => (await Promise.all(queues.map(countOpen))).every((open) => open === 0);
  if (!(await waitUntil(isQuiet, { deadlineMs: 10_000 }))) throw new Error('the queues do not empty');
  const figures = figuresBetween(name, first, look(count, pids));
  return { ...figures, [name]: { value: rate, unit: 'records/s' } };
}
