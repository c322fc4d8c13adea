/** A backlog of jobs of a given size, made here and not by an API, and how fast workers store it. */
import { Queue } from 'bullmq';
import { packJob, queuePrefix, recordQueue } from '#libs/record/queue';
import { waitUntil } from '../stack/wait.ts';
import { figuresBetween, look } from './cpu-time.ts';
import type { Figures } from './figures.ts';
import { makeRecord } from './requests.ts';
import type { Stack } from './stack.ts';

interface Backlog {
  /** of its figures */
  name: string;
  domainIds: string[];
  /** records of a job */
  size: number;
  /** records of all jobs */
  records: number;
}

/** jobs on their way to Redis at once */
const addsAtOnce = 50;

/** Workers of their own for backlogs that follow each other, warm and with nothing sealed. */
export async function startWorkers(stack: Stack, { workers = 1, shards = 1 }) {
  await stack.reset();
  const start = () => stack.startWorker({ QUEUE_SHARDS: String(shards) });
  const running = await Promise.all(Array.from({ length: workers }, start));
  const queues = Array.from(
    { length: shards },
    (_, shard) => new Queue(recordQueue(shard), { connection: stack.redis, prefix: queuePrefix }),
  );
  const pids = { worker: running[0]?.pid ?? Number.NaN, ...stack.pids };

  async function add({ domainIds, size, records }: Backlog): Promise<void> {
    const adds = Array.from({ length: Math.floor(records / size) }, (_, job) => async () => {
      const made = Array.from({ length: size }, (_, at) => makeRecord(domainIds, job * size + at, Date.now()));
      await queues[job % shards]?.add('record', packJob(made), { attempts: 5 });
    });
    while (adds.length > 0) await Promise.all(adds.splice(0, addsAtOnce).map((each) => each()));
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
    if (!(await waitUntil(isStored, { deadlineMs: 120_000 }))) throw new Error('the backlog is not stored');
    const rate = (count / (performance.now() - started)) * 1_000;
    const countOpen = (queue: Queue) => queue.getJobCountByTypes('waiting', 'active', 'delayed');
    const isQuiet = async () => (await Promise.all(queues.map(countOpen))).every((open) => open === 0);
    if (!(await waitUntil(isQuiet, { deadlineMs: 10_000 }))) throw new Error('the queues do not empty');
    return { ...figuresBetween(name, first, look(count, pids)), [name]: { value: rate, unit: 'records/s' } };
  }

  async function stop(): Promise<void> {
    await Promise.all(running.map((worker) => worker.stop()));
    await Promise.all(queues.map((queue) => queue.close()));
  }
  await drain({ name: 'warm-up', domainIds: stack.domainIds, size: 5, records: 10_000 });
  return { drain, stop };
}
