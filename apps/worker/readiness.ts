/** What a worker cannot do without a store, and what that costs. It needs both. */

import type { Database } from '#libs/base/db/database';
import { lacksRights, lookAtSchema } from '#libs/base/db/schema';
import type { Fault, Readiness } from '#libs/base/ops/readiness';
import type { RedisClient } from '#libs/base/redis/connection';
import type { RedisHealth } from '#libs/base/redis/health';

/** milliseconds */
const patience = 1_000;
const costs = {
  schema: 'Nothing is stored until the database is migrated: npm run migrate. Records wait in Redis.',
  postgres: 'Nothing is stored, sealed or delivered: records wait in Redis, and are stored once Postgres is back.',
  redis:
    'Nothing is taken from the queues, and nothing is sealed; it goes on where it stopped once Redis is back. Webhooks are delivered.',
  partly:
    'APIs store records directly in Postgres. What waits in the queues is taken, and logs are sealed, as far as Redis allows.',
};

export async function lookAtStores({
  db,
  redis,
  redisHealth,
}: {
  db: Pick<Database, 'run' | 'unavailableSince'>;
  redis: RedisClient;
  redisHealth: Pick<RedisHealth, 'reason' | 'since' | 'warnings'>;
}): Promise<Readiness> {
  const [schema, answers] = await Promise.all([lookAtSchema(db, patience, 'worker'), isAnswered(redis.ping())]);
  const postgres = schema === 'current';
  const degraded: Fault[] = [];
  if (schema === 'old')
    degraded.push({
      part: 'postgres',
      reason: 'lacks migrations of this release',
      since: Math.round(performance.timeOrigin),
      costs: costs.schema,
    });
  if (schema === 'unknown' || schema === 'forbidden')
    degraded.push({
      part: 'postgres',
      reason: schema === 'unknown' ? 'does not answer' : lacksRights,
      since: db.unavailableSince() ?? Date.now(),
      costs: costs.postgres,
    });
  const reason = redisHealth.reason() ?? (answers ? null : 'does not answer');
  if (reason !== null)
    degraded.push({ part: 'redis', reason, since: redisHealth.since(), costs: answers ? costs.partly : costs.redis });
  return {
    ready: postgres && answers,
    parts: { postgres, redis: answers && (reason ?? true) },
    degraded,
    warnings: redisHealth.warnings(),
  };
}

const isAnswered = (question: Promise<unknown>): Promise<boolean> =>
  question.then(
    () => true,
    () => false,
  );
