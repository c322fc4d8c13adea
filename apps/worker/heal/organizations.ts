/** Runs a task for every organization, in one worker at a time. */
import type { RedisConnection } from '#libs/runtime/redis';
import { listOrganizationIds } from '#libs/store/counters';
import type { Database } from '#libs/store/sql';
import type { Log } from '#libs/telemetry/log';
import type { Metrics } from '#libs/telemetry/metrics';

export interface HealingParts {
  /** fails fast where Redis is away */
  countersRedis: RedisConnection;
  db: Database;
  log: Log;
  metrics: Metrics;
}

/** True for one worker, and false for all others for `turn` milliseconds. */
export const takeTurn = async (
  { countersRedis }: Pick<HealingParts, 'countersRedis'>,
  task: string,
  turn: number,
): Promise<boolean> => (await countersRedis.client.set(`assent:${task}`, process.pid, 'PX', turn, 'NX')) !== null;

/** One organization that fails must not keep the others from being healed. */
export async function eachOrganization(
  { db, log }: Pick<HealingParts, 'db' | 'log'>,
  heal: (organizationId: string) => Promise<void>,
): Promise<void> {
  for (const organizationId of await db.run(listOrganizationIds)) {
    try {
      await heal(organizationId);
    } catch (error) {
      log.warn({ err: error, organizationId }, "could not repair an organization's counters");
    }
  }
}
