/** Everything that a worker does beside recording: deriving, delivering, housekeeping and repairs. */
import { createTaskLeases } from '#libs/base/db/task-leases';
import type { Log } from '#libs/base/ops/process-log';
import { createScheduler, type Scheduler } from '#libs/base/scheduler';
import { promoteStray } from '#libs/record/promote-stray-jobs';
import { scheduleCounterRepair } from '#libs/stats/counter-repair';
import { createResolve } from '#libs/webhooks/addresses';
import { scheduleDelivering } from '#libs/webhooks/delivering';
import type { WorkerConfig } from '../settings/worker.ts';
import { derivationsOf, scheduleDeriving } from './deriving.ts';
import { removeOldSchedules } from './old-schedules.ts';
import type { Observed, Queues, Stores } from './stores.ts';
import { scheduleHousekeeping } from './tasks.ts';

/** milliseconds within which a receiver has to respond */
const receiverPatience = 15_000;
/** Seconds. If the oldest record in a queue has waited longer, the workers are behind. */
const longestQueued = 60;

export type Background = ReturnType<typeof scheduleBackground>;

/** `second`: how many milliseconds count as one. In the result, `housekeeping` is the names of the housekeeping tasks. */
export function scheduleBackground(
  config: WorkerConfig,
  { metrics, failed }: Observed,
  stores: Stores,
  queues: Queues,
  { second, log }: { second: number; log: Log },
) {
  const { db, deliveryDb, redis, clock, keys } = stores;
  const scheduler = createScheduler({
    // `deliveryDb` runs only short statements, so leases are renewed in time
    leases: createTaskLeases(deliveryDb),
    pace: second,
    failed: counting(failed('look_for_turns'), (error, isNews) => {
      if (isNews) log.warn({ err: error }, 'Postgres does not say which background tasks are due');
    }),
  });
  const every: Scheduler['every'] = (task) =>
    scheduler.every({ ...task, failed: counting(failed(task.name), task.failed) });

  scheduleCounterRepair({ every }, { redis, db, second, log, metrics });
  const deriving = beginAfter(keys.compared, () => {
    scheduleDeriving({ every }, { config, redis, db, clock, second, log, metrics });
    return undefined;
  });
  const { secretsKey, previousSecretsKey, webhookReach: reach } = config;
  const areRecordsWaiting = () =>
    queues.summarize().then(
      (shards) => shards.some(({ oldest }) => oldest > longestQueued),
      () => true,
    );
  const delivering = beginAfter(keys.compared, () => {
    if (!secretsKey) return undefined;
    const sender = { resolve: createResolve(), reach, patience: receiverPatience };
    const own = { secretsKey, previousSecretsKey, sender, db: deliveryDb, areRecordsWaiting };
    return scheduleDelivering({ every }, { ...own, second, log, metrics });
  });
  const housekeeping = scheduleHousekeeping(
    { every },
    {
      retentionMonths: config.retentionMonths,
      personalRetentionMonths: config.personalRetentionMonths,
      derivations: derivationsOf(config).map(({ name }) => name),
      db,
      clock,
      second,
      log,
    },
  );
  const everyTenSeconds = (name: string, task: () => Promise<unknown>) =>
    every({ name, pace: 10 * second, exclusive: true, task, failed: () => {} });
  everyTenSeconds('promote_jobs', () => promoteStray(redis, config.queueShards));
  everyTenSeconds('remove_old_schedules', () => removeOldSchedules(redis));
  return { housekeeping, deriving, scheduler, delivering };
}

type Failed = Parameters<Scheduler['every']>[0]['failed'];

const counting =
  (count: () => void, failed: Failed): Failed =>
  (error, isNews) => {
    count();
    failed(error, isNews);
  };

interface Begun {
  close(): Promise<void>;
}

/** Nothing may be signed or decrypted with a key before it was compared with the one in force. */
function beginAfter(compared: Promise<void>, begin: () => Begun | undefined): Begun {
  let isClosed = false;
  let begun: Begun | undefined;
  compared.then(
    () => {
      if (!isClosed) begun = begin();
    },
    () => {},
  );
  return {
    close: async () => {
      isClosed = true;
      await begun?.close();
    },
  };
}
