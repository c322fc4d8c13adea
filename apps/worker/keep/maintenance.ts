/**
 * The worker's clock: partitions, retention and bookmarks as scheduled jobs, which one worker of all takes; healing on
 * plain timers. The schedules are written again every ten seconds, since a flushed Redis forgets them.
 */
import { Queue, Worker } from 'bullmq';
import { addMonths, dayOf, firstDay, monthOf } from '#libs/contract/calendar';
import { acceptedPast } from '#libs/contract/terms';
import { closeAll } from '#libs/queue/close';
import { maintenanceQueue, queuePrefix } from '#libs/queue/names';
import { setBookmarks } from '#libs/store/records/bookmarks';
import { dropMonth, listMonths, makeMonth } from '#libs/store/records/months';
import type { WorkerDeps } from '../consume.ts';
import { fillMissing, reconcile, sweepOwedRaises } from '../heal/reconcile.ts';

const second = 1_000;
const hour = 60 * 60 * second;
const monthsAhead = 2;

export function createMaintenance(deps: WorkerDeps): { close(): Promise<void> } {
  const { redis, db, log, config } = deps;
  const connection = redis.client;

  const tasks: Record<string, () => Promise<void>> = {
    months: async () => {
      const now = monthOf(Date.now());
      for (let ahead = -1; ahead <= monthsAhead; ahead += 1) {
        await db.run((sql) => makeMonth(sql, addMonths(now, ahead)));
      }
    },
    retention: async () => {
      for (const month of await db.run(listMonths)) {
        if (!isPastRetention(month, config.retentionMonths, Date.now())) continue;
        await db.run((sql) => dropMonth(sql, month));
        log.info({ month }, 'records past their retention were dropped');
      }
    },
    bookmarks: async () => {
      const days = await setBookmarks(db, { today: dayOf(Date.now()) });
      if (days > 0) log.info({ days }, 'bookmarks were set in the log of busy days');
    },
  };

  const queue = new Queue(maintenanceQueue, { connection, prefix: queuePrefix });
  const worker = new Worker(maintenanceQueue, async (job) => tasks[job.name]?.(), {
    connection,
    prefix: queuePrefix,
    removeOnComplete: { count: 10 },
    removeOnFail: { count: 100 },
    maxStalledCount: 10,
  });
  queue.on('error', () => {});
  worker.on('error', (error) => log.warn({ err: error }, 'maintenance worker'));
  worker.on('failed', (job, error) => log.error({ err: error, task: job?.name }, 'maintenance failed'));

  const schedule = async () => {
    await queue.upsertJobScheduler('months', { every: hour }, { name: 'months' });
    await queue.upsertJobScheduler('bookmarks', { every: hour }, { name: 'bookmarks' });
    if (config.retentionMonths > 0) await queue.upsertJobScheduler('retention', { every: hour }, { name: 'retention' });
    else await queue.removeJobScheduler('retention');
  };

  const timers = [
    repeat(10 * second, schedule),
    repeat(second, async () => {
      await sweepOwedRaises(deps);
    }),
    repeat(3 * second, () => fillMissing(deps, 2 * second)),
    repeat(30 * second, () => reconcile(deps, 25 * second)),
  ];

  /** One round after the other, the first a second from now; a round that fails is told and does not end the series. */
  function repeat(every: number, task: () => Promise<void>): () => Promise<void> {
    let stopped = false;
    let timer: NodeJS.Timeout | undefined;
    let running: Promise<void> = Promise.resolve();
    const round = () => {
      running = task()
        .catch((error: unknown) => log.warn({ err: error }, 'a round of maintenance failed'))
        .finally(() => {
          if (!stopped) timer = setTimeout(round, every);
        });
    };
    timer = setTimeout(round, Math.min(every, second));
    return async () => {
      stopped = true;
      clearTimeout(timer);
      // a round may be waiting for a Redis that is away
      await Promise.race([running, new Promise((resolve) => setTimeout(resolve, second))]);
    };
  }

  return {
    close: async () => {
      await Promise.all(timers.map((stop) => stop()));
      await closeAll(redis, [worker, queue]);
    },
  };
}

/** A month goes only when its last day is past both the retention and the time for which records may still arrive. */
export function isPastRetention(month: string, retentionMonths: number, now: number): boolean {
  if (retentionMonths === 0) return false;
  const end = firstDay(addMonths(month, 1));
  return end <= firstDay(addMonths(monthOf(now), -retentionMonths)) && end <= dayOf(now - acceptedPast - 2 * 24 * hour);
}
