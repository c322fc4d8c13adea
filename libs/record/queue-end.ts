/** Closes queues and workers. BullMQ itself would wait forever while Redis is down. */
import type { Queue, Worker } from 'bullmq';
import type { RedisConnection } from '#libs/base/redis/connection';
import { within } from '#libs/base/within';

/** Milliseconds: more than a worker's longest statement. */
const patience = 15_000;
const patienceWithoutRedis = 1_000;

/**
 * Workers finish their current jobs. Without Redis a job cannot be completed: it is abandoned, and later delivered to
 * another worker.
 */
export async function closeAll(connection: RedisConnection, closables: (Queue | Worker)[]): Promise<void> {
  const isThere = connection.client.status === 'ready';
  const closing = Promise.all(closables.map((closable) => closable.close()));
  await within(isThere ? patience : patienceWithoutRedis, closing).catch(() => {});
}
