/**
 * Redis learns who was erased, for the case that Postgres is restored or fails over: within a second, where the API that
 * erased them could not tell, and all of them again once Redis is another server, which may lack the last ones.
 */
import { groupsOf } from '#libs/runtime/group-by';
import type { RedisConnection } from '#libs/runtime/redis';
import { listErased, noteRemembered } from '#libs/store/privacy/tombstones';
import type { Database } from '#libs/store/sql';
import { rememberTombstones, serverOfTombstones } from '#libs/witness/tombstones';

/** tombstones in one command */
const chunk = 1_000;

/** Returns a round. */
export function createTelling({ redis, db }: { redis: RedisConnection; db: Database }): () => Promise<void> {
  let told: string | undefined;
  return async () => {
    const server = serverOfTombstones(redis);
    if (server === undefined) return;
    const erased = await db.run((sql) => listErased(sql, { untold: server === told }));
    for (const some of groupsOf(erased, chunk)) {
      await rememberTombstones(redis.client, some);
      await db.run((sql) => noteRemembered(sql, some));
    }
    told = server;
  };
}
