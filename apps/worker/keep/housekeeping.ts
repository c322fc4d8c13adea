/**
 * Housekeeping as scheduled jobs; any one worker runs each. The schedules are written again every ten seconds, because a
 * flushed Redis forgets them.
 */
import { Queue, Worker } from 'bullmq';
import { closeAll } from '#libs/queue/close';
import { maintenanceQueue, queuePrefix } from '#libs/queue/names';
import type { RedisConnection } from '#libs/runtime/redis';
import { repeat } from '#libs/runtime/repeat';
import { toldOnce } from '#libs/runtime/told-once';
import { expectTasks, noteSuccess } from '#libs/store/housekeeping';
import type { Log } from '#libs/telemetry/log';
import { createTasks, type TaskParts } from './tasks.ts';

/** milliseconds */
const second = 1_000;
const hour = 60 * 60 * second;
const scheduleEvery = 10_000;

export function createHousekeeping({
  redis,
  db,
  log,
  ...parts
}: Omit<TaskParts, 'log' | 'signal'> & { redis: RedisConnection; log: Log }): { close(): Promise<void> } {
  const stopping = new AbortController();
  const tasks: Record<string, () => Promise<void>> = createTasks({ ...parts, db, log, signal: stopping.signal });

  const every: Record<string, number | undefined> = {
    ...Object.fromEntries(Object.keys(tasks).map((task) => [task, hour])),
    visitors: 5 * second,
    retention: parts.retentionMonths > 0 ? hour : undefined,
    personalRetention: parts.personalRetentionMonths > 0 ? hour : undefined,
  };

  const connection = { connection: redis.client, prefix: queuePrefix };
  const queue = new Queue(maintenanceQueue, connection);
  const run = async (task: string) => {
    await tasks[task]?.();
    if (every[task]) await db.run((sql) => noteSuccess(sql, task));
  };
  const worker = new Worker(maintenanceQueue, ({ name }) => run(name), {
    ...connection,
    removeOnComplete: { count: 10 },
    removeOnFail: { count: 100 },
    maxStalledCount: 10,
  });
  queue.on('error', () => {});
  const errors = toldOnce((error) => log.warn({ err: error }, 'housekeeping worker error'));
  worker.on('error', errors.tell).on('active', errors.forget);
  worker.on('failed', (job, error) => log.error({ err: error, task: job?.name }, 'housekeeping failed'));

  let isExpected = false;
  const schedule = async () => {
    for (const task of Object.keys(tasks)) {
      const pause = every[task];
      if (pause === undefined) await queue.removeJobScheduler(task);
      else await queue.upsertJobScheduler(task, { every: pause }, { name: task });
    }
    if (isExpected) return;
    const scheduled = Object.keys(tasks).filter((task) => every[task]);
    await db.run((sql) => expectTasks(sql, scheduled));
    isExpected = true;
  };
  const stopScheduling = repeat(scheduleEvery, schedule, (error) => {
    log.warn({ err: error }, 'housekeeping could not be scheduled');
  });

  return {
    close: async () => {
      stopping.abort();
      await stopScheduling();
      await closeAll(redis, [worker, queue]);
    },
  };
}
