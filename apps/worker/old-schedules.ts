/** Workers of the previous release keep a queue in Redis for housekeeping, with schedules that nothing uses any more. */
import { Queue } from 'bullmq';
import type { RedisConnection } from '#libs/base/redis/connection';
import { closeAll, maintenanceQueue, queuePrefix } from '#libs/record/queue';

/** Removes it once no such worker is left: one that still runs would write its schedules again. */
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
