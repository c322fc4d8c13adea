import type { Database } from '#libs/base/db/database';
import { type Measurement, persistAlone } from '../measurement.ts';

/** Bytes hardly differ between rounds, so that the records are stored once. */
export const disk: Measurement = {
  name: 'disk',
  about: 'bytes of a stored record: on disk, in all and by part, and in the write-ahead log; persisting it (`persist`)',
  figure: async (stack, { records }) => {
    const before = await diskUse(stack.db);
    const { 'persist: log': log, ...persist } = await persistAlone(stack, { records });
    const stored = await stack.stored();
    const parts = Object.entries(await diskUse(stack.db))
      .map(([part, bytes]) => ({ part, value: (bytes - (before[part] ?? 0)) / stored }))
      .filter(({ value }) => value > 0);
    const sumOf = (some: typeof parts) => ({ value: some.reduce((sum, { value }) => sum + value, 0), unit: 'bytes' });
    const figures = {
      ...persist,
      disk: sumOf(parts),
      'disk: indexes': sumOf(parts.filter(({ part }) => part.startsWith('index '))),
      ...Object.fromEntries(parts.map((each) => [`disk: ${each.part}`, sumOf([each])])),
      ...(log && { 'disk: log': log }),
    };
    return async () => figures;
  },
};

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
