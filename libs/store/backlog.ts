/** What is left to do, as Postgres knows it: for the metrics. */
import type { Sql } from './sql.ts';

export interface Backlog {
  /** counters that wait to be raised in Redis; at most `most` are counted */
  owedRaises: number;
  /** enabled webhooks whose every try fails */
  webhooksFailing: number;
  /** the number of the newest closed epoch */
  epochsClosed: number;
  /** seconds that the open epoch has been open */
  epochOpen: number;
}

const most = 100_000;

export async function readBacklog(sql: Sql): Promise<Backlog> {
  const [row] = await sql<Backlog[]>`
    select
      (select count(*)::int from (select from owed_raises limit ${most}) as owed) as "owedRaises",
      (select count(*)::int from webhooks where enabled and failing_since is not null) as "webhooksFailing",
      open - 1 as "epochsClosed",
      coalesce((
        select extract(epoch from clock_timestamp() - max(closed_at))::float8 from closed_epochs
      ), 0) as "epochOpen"
    from epochs`;
  if (!row) throw new Error('the database lacks its epochs');
  return row;
}
