/**
 * Housekeeping: months, retention, user agents, notices, bookmarks, busy visitors, deliveries and displays, as scheduled jobs; any one worker runs each. The schedules are written again every ten seconds, because a flushed Redis forgets them.
 */
import { Queue, Worker } from 'bullmq';
import { dayOf } from '#libs/contract/calendar';
import { closeAll } from '#libs/queue/close';
import { maintenanceQueue, queuePrefix } from '#libs/queue/names';
import type { RedisConnection } from '#libs/runtime/redis';
import { repeat } from '#libs/runtime/repeat';
import { toldOnce } from '#libs/runtime/told-once';
import { deleteOldFlushes } from '#libs/store/displays/displays';
import { expectTasks, noteSuccess } from '#libs/store/housekeeping';
import { dropUnnamedNotices } from '#libs/store/notices/documents';
import { setBookmarks } from '#libs/store/records/bookmarks';
import { countBusyVisitors } from '#libs/store/records/busy-visitors';
import type { Database } from '#libs/store/sql';
import { deleteUnusedUserAgents } from '#libs/store/user-agents/unused';
import { deleteOldDeliveries } from '#libs/store/webhooks/webhooks';
import type { Log } from '#libs/telemetry/log';
import { dropExpiredMonths, makeMonths } from './months.ts';
import { blankOldMonths } from './personal.ts';

/** milliseconds */
const second = 1_000;
const hour = 60 * 60 * second;
const scheduleEvery = 10_000;

export function createHousekeeping({
  retentionMonths,
  personalRetentionMonths,
  derivations,
  redis,
  db,
  log,
}: {
  /** 0: records are kept for ever */
  retentionMonths: number;
  /** 0: personal fields stay as long as the records */
  personalRetentionMonths: number;
  /** those that have to be done with a month before it is dropped */
  derivations: string[];
  redis: RedisConnection;
  db: Database;
  log: Log;
}): { close(): Promise<void> } {
  const stopping = new AbortController();
  const tasks: Record<string, () => Promise<void>> = {
    months: () => makeMonths(db, Date.now()),
    retention: async () => {
      const { dropped, held, awaited } = await dropExpiredMonths(db, { retentionMonths, derivations }, Date.now());
      for (const month of dropped) log.info({ month }, 'dropped a month of records past retention');
      if (awaited)
        log.warn({ month: awaited }, 'a month past retention stays until all that is derived from it has been');
      if (held) log.warn({ month: held }, 'a month past retention is hidden, and dropped once nobody reads it');
    },
    personalRetention: async () => {
      const blanked = await blankOldMonths(db, personalRetentionMonths, Date.now(), stopping.signal);
      if (blanked > 0)
        log.info({ records: blanked }, 'records past PERSONAL_RETENTION_MONTHS lost their personal fields');
    },
    bookmarks: async () => {
      const days = await setBookmarks(db, { today: dayOf(Date.now()) });
      if (days > 0) log.info({ days }, 'set bookmarks in the log of busy days');
    },
    userAgents: async () => {
      const userAgents = await deleteUnusedUserAgents(db);
      if (userAgents > 0) log.info({ userAgents }, 'deleted user agents that no record names any more');
    },
    notices: async () => {
      const notices = await dropUnnamedNotices(db);
      if (notices > 0) log.info({ notices }, 'dropped notices that no record named within a day');
    },
    deliveries: async () => {
      const deliveries = await deleteOldDeliveries((work) => db.run(work));
      if (deliveries > 0) log.info({ deliveries }, 'deleted deliveries of more than 30 days ago');
    },
    displays: async () => {
      await deleteOldFlushes(db);
    },
    visitors: async () => {
      const visitors = await countBusyVisitors(db);
      if (visitors > 0) log.info({ visitors }, 'counted visitors with many records');
    },
  };

  const every: Record<string, number | undefined> = {
    ...Object.fromEntries(Object.keys(tasks).map((task) => [task, hour])),
    visitors: 5 * second,
    retention: retentionMonths > 0 ? hour : undefined,
    personalRetention: personalRetentionMonths > 0 ? hour : undefined,
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
