import type { Database } from '#libs/base/db/database';

/** Bytes by part: the rows of `records`, each of its indexes, and all other tables. Partitions are summed up. */
export async function diskUse(db: Database): Promise<Record<string, number>> {
  const parts = await db.run(
    (sql) => sql<{ part: string; bytes: number }[]>`
      with partitions as (select relid from pg_partition_tree('records') where isleaf)
      select 'rows' as part, sum(pg_table_size(relid))::bigint as bytes from partitions
      union all (
        select 'index ' || coalesce(pg_partition_root(indexrelid), indexrelid)::regclass, sum(pg_table_size(indexrelid))::bigint
        from partitions join pg_index on indrelid = relid
        group by 1
        order by 1
      )
      union all
      select 'other tables', sum(pg_total_relation_size(oid))::bigint
      from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace and oid not in (select relid from partitions)`,
  );
  return Object.fromEntries(parts.map(({ part, bytes }) => [part, bytes]));
}
