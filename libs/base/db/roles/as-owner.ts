/** What only the owner of `records` may do, by a process that has other rights and may stand for it. */

import type { Sql } from '../database.ts';
import { isAnswer, isInTheWay } from '../errors.ts';

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
export async function readAsOwner<T>(sql: Sql, work: (own: Sql) => Promise<T>): Promise<T> {
  const owner = await ownerToBe(sql);
  if (owner === undefined) return work(sql);
  return sql.begin(async (transaction) => {
    await transaction.unsafe(`set local role ${owner}`);
    return work(transaction as unknown as Sql);
  }) as Promise<T>;
}

/** On a connection of its own, since a role is the session's: it is given back once it has its own role again. */
export async function asOwner<T>(sql: Sql, owner: string, work: (own: Sql) => Promise<T>): Promise<T> {
  const own = await sql.reserve();
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
