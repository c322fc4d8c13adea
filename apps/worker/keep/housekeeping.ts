/**
 * Housekeeping: months, retention, user agents, notices, bookmarks, busy visitors, deliveries and displays. Any one worker
 * runs each.
 */
import { dayOf } from '#libs/contract/calendar';
import type { Scheduler } from '#libs/runtime/scheduler';
import { deleteOldFlushes } from '#libs/store/displays/displays';
import { dropUnnamedNotices } from '#libs/store/notices/documents';
import { setBookmarks } from '#libs/store/records/bookmarks';
import { countBusyVisitors } from '#libs/store/records/busy-visitors';
import type { Database } from '#libs/store/sql';
import { deleteUnusedUserAgents } from '#libs/store/user-agents/unused';
import { deleteOldDeliveries } from '#libs/store/webhooks/webhooks';
import type { Log } from '#libs/telemetry/log';
import { dropExpiredMonths, makeMonths } from './months.ts';
import { blankOldMonths } from './personal.ts';

export interface HousekeepingParts {
  /** 0: records are kept for ever */
  retentionMonths: number;
  /** 0: personal fields stay as long as the records */
  personalRetentionMonths: number;
  /** those that have to be done with a month before it is dropped */
  derivations: string[];
  db: Database;
  /** milliseconds of a second between two rounds */
  pace: number;
  log: Log;
}

/** Returns the names of the tasks. */
export function scheduleHousekeeping(
  { every }: Pick<Scheduler, 'every'>,
  { retentionMonths, personalRetentionMonths, derivations, db, pace, log }: HousekeepingParts,
): string[] {
  const tasks: Record<string, (signal: AbortSignal) => Promise<void>> = {
    months: () => makeMonths(db, Date.now()),
    retention: async () => {
      const { dropped, held, awaited } = await dropExpiredMonths(db, { retentionMonths, derivations }, Date.now());
      for (const month of dropped) log.info({ month }, 'dropped a month of records past retention');
      if (awaited)
        log.warn({ month: awaited }, 'a month past retention stays until all that is derived from it has been');
      if (held) log.warn({ month: held }, 'a month past retention is hidden, and dropped once nobody reads it');
    },
    personalRetention: async (signal) => {
      const blanked = await blankOldMonths(db, personalRetentionMonths, Date.now(), signal);
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

  const paces: Record<string, number | undefined> = {
    ...Object.fromEntries(Object.keys(tasks).map((task) => [task, 3_600 * pace])),
    visitors: 5 * pace,
    retention: retentionMonths > 0 ? 3_600 * pace : undefined,
    personalRetention: personalRetentionMonths > 0 ? 3_600 * pace : undefined,
  };
  return Object.entries(tasks).flatMap(([name, task]) => {
    const pause = paces[name];
    if (pause === undefined) return [];
    every({
      name,
      pace: pause,
      one: true,
      task,
      failed: (error, isNews) => {
        if (isNews) log.error({ err: error, task: name }, 'housekeeping failed');
      },
    });
    return [name];
  });
}
