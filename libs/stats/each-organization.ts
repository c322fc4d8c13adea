/** Runs a task for many organizations, some at a time. */
import pLimit from 'p-limit';
import type { Database } from '#libs/base/db/database';
import type { Log } from '#libs/base/ops/process-log';
import type { RedisConnection } from '#libs/base/redis/connection';
import type { StatsMetrics } from './metrics.ts';

export interface RepairParts {
  /** fails fast if Redis is down */
  redis: RedisConnection;
  db: Database;
  log: Log;
  metrics: StatsMetrics;
}

/** Organizations at a time: enough to keep the stores busy, and few enough to leave recording its share. */
export const atOnce = 3;

/**
 * Continues after an organization that fails, and starts none once `signal` aborts. Returns how many failed.
 */
export async function eachOrganization(
  { log }: Pick<RepairParts, 'log'>,
  organizationIds: string[],
  signal: AbortSignal,
  repair: (organizationId: string) => Promise<void>,
  many = atOnce,
): Promise<number> {
  const limit = pLimit(many);
  let failed = 0;
  const repairOne = async (organizationId: string) => {
    if (signal.aborted) return;
    try {
      await repair(organizationId);
    } catch (error) {
      failed += 1;
      log.warn({ err: error, organizationId }, "could not repair an organization's counters");
    }
  };
  await Promise.all(organizationIds.map((organizationId) => limit(repairOne, organizationId)));
  return failed;
}
