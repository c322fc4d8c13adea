/** What workers of the release before keep in Redis for housekeeping: a queue, with schedules that nobody follows any more. */
import { Queue } from 'bullmq';
import type { RedisConnection } from '#libs/base/redis/connection';
import { closeAll, maintenanceQueue, queuePrefix } from '#libs/record/queue';

/** Removes it, once none of these workers is left: each writes its schedules anew, and follows a new one at once. */
export async function removeOldSchedules(redis: RedisConnection): Promise<void> {
  const { client } = redis;
  if ((await client.exists(`${queuePrefix}:${maintenanceQueue}:meta`)) === 0) return;
  const queue = new Queue(maintenanceQueue, { connection: client, prefix: queuePrefix, skipMetasUpdate: true });
  queue.on('error', () => {});
  try {
    if ((await queue.getWorkersCount()) > 0) return;
    for (const { key } of await queue.getJobSchedulers()) await queue.removeJobScheduler(key);
    await queue.obliterate({ force: true });
  } finally {
    await closeAll(redis, [queue]);
  }
}
