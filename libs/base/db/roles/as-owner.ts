/** What only the owner of `records` may do, by a process that has other rights and may stand for it. */

import type { Database, Sql } from '../database.ts';
import { isAnswer, isInTheWay } from '../errors.ts';
import type { Pool } from '../pooled.ts';

/**
 * The role that the login has to take on, as it stands in a statement; undefined where it has the rights of the tables'
 * owner already, as with one login for everything.
 */
export async function ownerToBe(sql: Sql): Promise<string | undefined> {
  const [table] = await sql<{ owner: string; isOurs: boolean }[]>`
    select relowner::regrole::text as owner, pg_has_role(relowner, 'usage') as "isOurs"
    from pg_class where oid = 'records'::regclass`;
  return table?.isOurs ? undefined : table?.owner;
}

/** Reads a partition of `records`, which only its owner may read by its own name. */
export const readAsOwner = <T>(db: Database, work: (sql: Sql) => Promise<T>): Promise<T> =>
  db.transaction(async (sql) => {
    const owner = await ownerToBe(sql);
    if (owner !== undefined) await sql.unsafe(`set local role ${owner}`);
    return work(sql);
  });

/** On a connection of its own, since a role is the session's: it is given back once it has its own role again. */
export async function asOwner<T>(pool: Pool, owner: string, work: (own: Sql) => Promise<T>): Promise<T> {
  const own = await pool.reserve();
  let isThere = true;
  try {
    await own.unsafe(`set role ${owner}`);
    return await work(own);
  } catch (error) {
    isThere = isAnswer(error) || isInTheWay(error);
    throw error;
  } finally {
    if (isThere) {
      await own.unsafe('reset role');
      own.release();
    }
  }
}
