/**
 * Redis learns who was erased, for the case that Postgres is restored or fails over: within a second, where the API that
 * erased them could not tell, and all of them again once Redis is another server, which may lack the last ones.
 */

import type { Database } from '#libs/base/db/database';
import type { RedisConnection } from '#libs/base/redis/connection';
import { rememberTombstones, serverOfTombstones } from './remembered-tombstones.ts';
import {
  type ErasedVisitor,
  firstPlace,
  listErased,
  listUntold,
  noteRemembered,
  type TombstonePlace,
} from './tombstones.ts';

/** tombstones that are told at once */
const chunk = 1_000;

/** Returns a round. */
export function createTelling({ redis, db }: { redis: RedisConnection; db: Database }): () => Promise<void> {
  let told: string | undefined;
  const tell = async (some: ErasedVisitor[]) => {
    await rememberTombstones(redis.client, some);
    await db.run((sql) => noteRemembered(sql, some));
  };
  const tellAll = async () => {
    for (let place: TombstonePlace | undefined = firstPlace; place; ) {
      const after: TombstonePlace = place;
      const { erased, next } = await db.run((sql) => listErased(sql, after, chunk));
      await tell(erased);
      place = next;
    }
  };
  return async () => {
    const server = serverOfTombstones(redis);
    if (server === undefined) return;
    if (server !== told) await tellAll();
    told = server;
    for (let untold = chunk; untold === chunk; ) {
      const some = await db.run((sql) => listUntold(sql, chunk));
      if (some.length > 0) await tell(some);
      untold = some.length;
    }
  };
}
