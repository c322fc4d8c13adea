/** What a record takes on the disk of Postgres, as the worker stores it, and what each index is there for. */
import { assent } from '../designs.ts';
import { drainRate } from '../drain-rate.ts';
import { type Measurement, single } from '../measurement.ts';

const purposes: Record<string, string> = {
  records_pkey: "(domain_id, id): a record is stored once; the pages of a domain's log",
  records_by_bot: '(domain_id, id, decision) where bot: the log without crawlers, or with nothing else',
  records_by_organization: '(organization_id, id): the newest records of all domains in org-stats',
  records_by_visitor: "(domain_id, visitor_id, id): one visitor's history, for proof and for erasure",
  records_withdrawn: '(domain_id, id) where withdraw: the log filtered by the one rare decision',
};

export const disk: Measurement = {
  name: 'disk',
  about: 'Postgres bytes for each record, table and indexes',
  run: async (bench, { backlog }) => {
    const stack = await bench.empty();
    await drainRate(assent(stack), { records: backlog, perJob: 25 });
    const sizes = await stack.db.run(
      (sql) => sql<{ name: string; bytes: number }[]>`
        select '' as name, sum(pg_table_size(relid)) as bytes from pg_partition_tree('records') where isleaf
        union all
        select i.indexrelid::regclass::text, (
          select sum(pg_relation_size(relid)) from pg_partition_tree(i.indexrelid) where isleaf
        )
        from pg_index i where i.indrelid = 'records'::regclass
        order by name`,
    );
    const rows = sizes.map(({ name, bytes }) => {
      const row = single(name ? `disk: ${name}` : 'disk: table', 'bytes/record', Number(bytes) / backlog);
      return name ? { ...row, note: purposes[name] ?? 'serves no purpose that is known here' } : row;
    });
    const total = rows.reduce((sum, row) => sum + row.figure, 0);
    return [single('disk', 'bytes/record', total), ...rows];
  },
};
