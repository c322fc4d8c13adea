/** What an API can do without a store, and what that costs. */

import type { Database } from '#libs/base/db/database';
import type { Replica } from '#libs/base/db/replica';
import { lacksRights, lookAtSchema } from '#libs/base/db/schema';
import type { Fault, Readiness } from '#libs/base/ops/readiness';
import type { RedisHealth } from '#libs/base/redis/health';

/** milliseconds */
const patience = 1_000;
const costs = {
  postgres:
    'Records are safe in Redis and stored later. The log, keys that are not cached and all changes answer 503; statistics are read from Redis.',
  schema: 'This process gets no requests until the database is migrated: npm run migrate.',
  postgresBesideReplica:
    'Records are safe in Redis and stored later. The log is read from the replica, statistics from Redis. Keys that are not cached, exports, pages of one visitor, the log under a monthly limit and all changes answer 503.',
  replica: 'The primary answers the reads that the replica would.',
  redis: 'Records are stored directly in Postgres, which takes fewer at once; statistics are read from Postgres.',
  both: 'Recording and reading answer 503. Widgets keep decisions in the browsers and send them later.',
};

/** One is enough to be ready, unless Postgres has the schema of a release before: then it is not this process' turn. */
export async function lookAtStores(
  db: Pick<Database, 'run' | 'unavailableSince'>,
  redisHealth: Pick<RedisHealth, 'reason' | 'since' | 'warnings'>,
  replica?: Pick<Replica, 'reason' | 'since'>,
): Promise<Readiness> {
  const schema = await lookAtSchema(db, patience, 'api');
  const postgres = schema === 'current';
  const reason = redisHealth.reason();
  const lacksReplica = replica?.reason() ?? null;
  const isReplicaUsed = replica !== undefined && lacksReplica === null;
  const ready = schema !== 'old' && (postgres || reason === null);
  const noPostgres: Fault = {
    part: 'postgres',
    ...(schema === 'old'
      ? { reason: 'lacks migrations of this release', since: Math.round(performance.timeOrigin), costs: costs.schema }
      : {
          reason: schema === 'forbidden' ? lacksRights : 'does not answer',
          since: db.unavailableSince() ?? Date.now(),
          costs: ready ? costs[isReplicaUsed ? 'postgresBesideReplica' : 'postgres'] : costs.both,
        }),
  };
  const degraded: Fault[] = [
    ...(postgres ? [] : [noPostgres]),
    ...(replica && lacksReplica !== null
      ? [{ part: 'replica', reason: lacksReplica, since: replica.since(), costs: costs.replica } as const]
      : []),
    ...(reason === null
      ? []
      : [{ part: 'redis', reason, since: redisHealth.since(), costs: ready ? costs.redis : costs.both } as const]),
  ];
  const parts = { postgres, ...(replica && { replica: lacksReplica ?? true }), redis: reason ?? true };
  return { ready, parts, degraded, warnings: redisHealth.warnings() };
}
