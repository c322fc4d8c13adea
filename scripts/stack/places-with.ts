/** Where a text still is, such as the id of a visitor who was erased. */
import type { Database } from '#libs/base/db/database';
import type { RedisClient } from '#libs/base/redis/connection';

/** The tables that have it anywhere in a row, system catalogues included. */
export async function tablesWith(db: Pick<Database, 'run'>, needle: string): Promise<string[]> {
  const tables = await db.run(
    (sql) => sql<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'public'
      union all select 'pg_statistic'`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const [row] = await db.run((sql) =>
      sql.unsafe(`select count(*)::int as count from ${name} as t where t::text like '%${needle}%'`),
    );
    if (row?.count) found.push(name);
  }
  return found;
}

/** The keys whose name or value has the text. */
export async function keysWith(redis: RedisClient, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const key of await redis.keys('*')) {
    const value = JSON.stringify(await readWhole(redis, key));
    if (key.includes(text) || value.includes(text)) found.push(key);
  }
  return found;
}

async function readWhole(redis: RedisClient, key: string): Promise<unknown> {
  const readers: Record<string, () => unknown> = {
    string: () => redis.get(key),
    hash: () => redis.hgetall(key),
    list: () => redis.lrange(key, 0, -1),
    set: () => redis.smembers(key),
    zset: () => redis.zrange(key, '0', '-1'),
    stream: () => redis.xrange(key, '-', '+'),
    // it is gone by now
    none: () => null,
  };
  const type = await redis.type(key);
  const read = readers[type];
  if (!read) throw new Error(`${key} is of the unknown type ${type}`);
  return read();
}
