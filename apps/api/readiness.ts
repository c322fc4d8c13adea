/** Whether an API can work, and what each fault of its stores costs. */

import type { Replica } from '#libs/base/db/replica';
import { isOld, lookAtParts, lookAtPostgres, type Part, type Pools, type Readiness } from '#libs/base/ops/readiness';
import type { RedisHealth } from '#libs/base/redis/health';

const costs = {
  postgres:
    'Records are safe in Redis and stored later. The log, keys that are not cached and all changes answer 503; statistics are read from Redis.',
  schema: 'This process gets no requests until the database is migrated: npm run migrate.',
  postgresBesideReplica:
    'Records are safe in Redis and stored later. The log is read from the replica, statistics from Redis. Keys that are not cached, exports, pages of one visitor, the log under a monthly limit and all changes answer 503.',
  replica: 'The primary answers the reads that the replica would.',
  redis: 'Records are stored directly in Postgres, which takes fewer at once; statistics are read from Postgres.',
  readOnly: 'Records are safe in Redis and stored later. Everything can be read; all changes answer 503.',
  both: 'Recording and changes answer 503, as does reading while Postgres does not respond. Widgets keep decisions in the browsers and send them later.',
};

interface Stores {
  pools: Pools;
  redisHealth: Pick<RedisHealth, 'reason' | 'since' | 'warnings'>;
  replica: Pick<Replica, 'reason' | 'since'> | undefined;
}

/**
 * Either Postgres or Redis is enough, unless the schema belongs to an earlier release: then only a process of that release
 * can work.
 */
export async function apiReadiness({ pools, redisHealth, replica }: Stores): Promise<Readiness> {
  const health = ({ reason, since }: Pick<Replica, 'reason' | 'since'>) => {
    const why = reason();
    return why === null ? { state: true } : { state: why, fault: { reason: why, since: since() } };
  };
  const parts: Part[] = [
    {
      name: 'postgres',
      look: () => lookAtPostgres(pools, 'api'),
      costs: (seen) => {
        if (isOld(seen.postgres)) return costs.schema;
        if (seen.redis?.fault) return costs.both;
        if (seen.postgres?.canBeRead) return costs.readOnly;
        return costs[seen.replica?.state === true ? 'postgresBesideReplica' : 'postgres'];
      },
    },
    ...(replica ? [{ name: 'replica', look: () => health(replica), costs: () => costs.replica } as const] : []),
    {
      name: 'redis',
      look: () => health(redisHealth),
      costs: ({ postgres }) => (postgres?.fault ? costs.both : costs.redis),
    },
  ];
  const state = await lookAtParts(
    parts,
    ({ postgres, redis }) => !isOld(postgres) && !(postgres?.fault && redis?.fault),
  );
  return { ...state, warnings: redisHealth.warnings() };
}
