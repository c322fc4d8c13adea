/** Lets a process with fewer rights do what only the owner of `records` may, by taking on the owner's role. */

import type { Database, Sql } from '../database.ts';
import { isAnswer, isBlocked } from '../errors.ts';
import type { Pool } from '../pooled.ts';

/**
 * The role to take on, quoted for a statement; undefined if the login already has the rights of the tables' owner, as with
 * one login for everything.
 */
export async function ownerToBe(sql: Sql): Promise<string | undefined> {
  const [table] = await sql<{ owner: string; isOurs: boolean }[]>`
    select relowner::regrole::text as owner, pg_has_role(relowner, 'usage') as "isOurs"
    from pg_class where oid = 'records'::regclass`;
  return table?.isOurs ? undefined : table?.owner;
}

/** Reads a partition of `records` by its own name, which only the owner may. */
export const readAsOwner = <T>(db: Database, work: (sql: Sql) => Promise<T>): Promise<T> =>
  db.transaction(async (sql) => {
    const owner = await ownerToBe(sql);
    if (owner !== undefined) await sql.unsafe(`set local role ${owner}`);
    return work(sql);
  });

/**
 * On a connection of its own, because a role belongs to the session. The connection returns to the pool once the role is
 * reset.
 */
export async function asOwner<T>(pool: Pool, owner: string, work: (own: Sql) => Promise<T>): Promise<T> {
  const own = await pool.reserve();
  let isThere = true;
  try {
    await own.unsafe(`set role ${owner}`);
    return await work(own);
  } catch (error) {
    isThere = isAnswer(error) || isBlocked(error);
    throw error;
  } finally {
    if (isThere) {
      await own.unsafe('reset role');
      own.release();
    }
  }
}
