/** Whether a worker can reach its stores, and what an outage of either costs. It needs both. */

import { isOld, lookAtParts, lookAtPostgres, type Part, type Pools, type Readiness } from '#libs/base/ops/readiness';
import type { RedisClient } from '#libs/base/redis/connection';
import type { RedisHealth } from '#libs/base/redis/health';
import { isMissingRight } from '#libs/base/redis/rights';

const costs = {
  schema: 'Nothing is stored until the database is migrated: npm run migrate. Records wait in Redis.',
  postgres: 'Nothing is stored, sealed or delivered: records wait in Redis, and are stored once Postgres is back.',
  redis:
    'Nothing is taken from the queues, and nothing is sealed; it goes on where it stopped once Redis is back. Webhooks are delivered.',
  partly:
    'APIs store records directly in Postgres. What waits in the queues is taken, and logs are sealed, as far as Redis allows.',
};

interface Stores {
  pools: Pools;
  client: RedisClient;
  redisHealth: Pick<RedisHealth, 'reason' | 'since' | 'warnings'>;
}

export async function workerReadiness({ pools, client: redis, redisHealth }: Stores): Promise<Readiness> {
  const parts: Part[] = [
    {
      name: 'postgres',
      look: () => lookAtPostgres(pools, 'worker'),
      costs: ({ postgres }) => (isOld(postgres) ? costs.schema : costs.postgres),
    },
    {
      name: 'redis',
      // a Redis that takes no records may still reply
      look: async () => {
        const responses = await isAnswered(redis.ping());
        const reason = redisHealth.reason() ?? (responses ? null : 'does not respond');
        if (reason === null) return { state: true };
        return { state: responses && !isMissingRight(reason) && reason, fault: { reason, since: redisHealth.since() } };
      },
      costs: (seen) => (seen.redis?.state === false ? costs.redis : costs.partly),
    },
  ];
  const state = await lookAtParts(parts, ({ postgres, redis }) => !postgres?.fault && redis?.state !== false);
  return { ...state, warnings: redisHealth.warnings() };
}

const isAnswered = (question: Promise<unknown>): Promise<boolean> =>
  question.then(
    () => true,
    () => false,
  );
