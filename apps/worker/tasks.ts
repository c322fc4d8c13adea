/**
 * Housekeeping; each task runs in one worker at a time: months, retention, user agents, notices, busy visitors, deliveries,
 * stored responses and displays.
 */

import { type Clock, trustedAfter } from '#libs/base/db/clock';
import type { Database } from '#libs/base/db/database';
import type { Log } from '#libs/base/ops/process-log';
import type { Scheduler } from '#libs/base/scheduler';
import { dropUnnamedNotices, judgeNotices } from '#libs/notices/dropping';
import { blankOldMonths } from '#libs/privacy/blank-months';
import { dropExpiredMonths } from '#libs/privacy/drop-months';
import { countBusyVisitors } from '#libs/record/busy-visitors';
import { hourlyRound, roundsNeeded } from '#libs/record/due-months';
import { makeMonths } from '#libs/record/month-partitions';
import { deleteUserAgentsOfGoneMonths } from '#libs/record/user-agent-deletion';
import { deleteOldFlushes } from '#libs/stats/stored-displays';
import { deleteOldResponses } from '#libs/tenants/idempotency';
import { deleteOldDeliveries } from '#libs/webhooks/stored-webhooks';

interface TaskParts {
  /** 0: records are never dropped */
  retentionMonths: number;
  /** 0: personal fields stay as long as the records */
  personalRetentionMonths: number;
  /** A month is dropped once these are done with it. */
  derivations: string[];
  db: Database;
  clock: Clock;
  log: Pick<Log, 'info' | 'warn' | 'error'>;
}

/** `second`: how many milliseconds count as one. Returns the names of the tasks. */
export function scheduleHousekeeping(
  { every }: Pick<Scheduler, 'every'>,
  { second, ...parts }: TaskParts & { second: number },
): string[] {
  const { retention, personalRetention, ...others } = createTasks(parts);
  const tasks: Record<string, Task> = {
    ...others,
    ...(parts.retentionMonths > 0 && { retention }),
    ...(parts.personalRetentionMonths > 0 && { personalRetention }),
  };
  for (const [name, task] of Object.entries(tasks)) {
    every({
      name,
      pace: (name === 'visitors' ? 5 : 3_600) * second,
      exclusive: true,
      task,
      failed: (error, isNews) => {
        if (isNews) parts.log.error({ err: error, task: name }, 'housekeeping failed');
      },
    });
  }
  return Object.keys(tasks);
}

/** One round; `signal` aborts long work. */
type Task = (signal: AbortSignal) => Promise<void>;

/** Any worker may run these tasks, one worker at a time. Times are by Postgres' clock. */
export function createTasks({ retentionMonths, personalRetentionMonths, derivations, db, clock, log }: TaskParts) {
  /** Irreversible work does not begin while the clocks differ, since either may be wrong. `now`: Unix milliseconds. */
  const byAge =
    (task: string, work: (now: number, signal: AbortSignal) => Promise<void>): Task =>
    async (signal) => {
      const now = await clock.measure();
      if (clock.agrees()) await work(now, signal);
      else log.warn({ event: 'waits_for_clock', task }, `${task} waits until the clocks of worker and Postgres agree`);
    };
  const warnFound = (months: string[], setting: string, what: string) => {
    if (months.length > 0)
      log.warn({ event: 'months_due', months }, `past ${setting}: after ${roundsNeeded} hourly rounds ${what}`);
  };
  return {
    months: async () => makeMonths(db, await clock.measure()),
    retention: byAge('retention', async (now) => {
      const given = { retentionMonths, derivations, round: hourlyRound(clock) };
      const { dropped, found, hidden, awaited } = await dropExpiredMonths(db, given, now);
      warnFound(found, 'RECORD_RETENTION_MONTHS', 'these months are dropped');
      for (const month of dropped) log.info({ month }, 'dropped a month of records past retention');
      if (awaited)
        log.warn(
          { month: awaited },
          'a month past retention is kept until everything that is derived from its records is complete',
        );
      if (hidden) log.warn({ month: hidden }, 'a month past retention is hidden, and dropped once nobody reads it');
    }),
    personalRetention: byAge('personalRetention', async (now, signal) => {
      const given = { personalRetentionMonths, round: hourlyRound(clock) };
      const { records, found } = await blankOldMonths(db, given, now, signal);
      warnFound(found, 'PERSONAL_RETENTION_MONTHS', 'these months lose their personal fields');
      if (records > 0) log.info({ records }, 'records past PERSONAL_RETENTION_MONTHS lost their personal fields');
    }),
    userAgents: async () => {
      const userAgents = await deleteUserAgentsOfGoneMonths(db);
      if (userAgents > 0) log.info({ userAgents }, 'deleted user agents that no record names any more');
    },
    notices: byAge('notices', async () => {
      // no notices are dropped until this worker has seen steady clocks for 50 minutes: until then, records queued before
      // it started may still name an unnamed notice
      const notices = clock.steadyFor() < trustedAfter ? 0 : await dropUnnamedNotices(db);
      if (notices > 0) log.info({ notices }, 'dropped notices that no record named within a day');
      const rare = await judgeNotices(db);
      if (rare > 0) log.info({ notices: rare }, 'dropped notices that few records named within 30 days');
    }),
    deliveries: byAge('deliveries', async () => {
      const deliveries = await deleteOldDeliveries((work) => db.write(work));
      if (deliveries > 0) log.info({ deliveries }, 'deleted deliveries of more than 30 days ago');
    }),
    answers: byAge('answers', async () => deleteOldResponses(db)),
    displays: byAge('displays', async () => {
      await deleteOldFlushes(db);
    }),
    visitors: async () => {
      const visitors = await countBusyVisitors(db);
      if (visitors > 0) log.info({ visitors }, 'counted visitors with many records');
    },
  };
}
