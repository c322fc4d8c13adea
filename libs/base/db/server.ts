/** Which tables of which server they are: restored ones, and those of a promoted replica, are others than before. */
import type { Sql } from './database.ts';

export interface Server {
  systemIdentifier: string;
  timeline: string;
  /** its oid; '' where it was not noted */
  database: string;
  /** the oid of `log_server`, which a dump that is restored into the same database makes anew; '' where it was not noted */
  table: string;
}

const mayBeSame = (one: string, other: string): boolean => one === '' || other === '' || one === other;

/** Whether nothing can be missing that was there before. */
export const isSame = (one: Server, other: Server): boolean =>
  one.systemIdentifier === other.systemIdentifier &&
  one.timeline === other.timeline &&
  mayBeSame(one.database, other.database) &&
  mayBeSame(one.table, other.table);

export interface RunningServer extends Server {
  /** as Postgres writes it: whatever was set back behind our back was restarted */
  startedAt: string;
}

/** A row of `RunningServer`. */
export const currentServerIn = (sql: Sql) => sql`
  select system_identifier::text as "systemIdentifier", left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline,
    (select oid::text from pg_database where datname = current_database()) as database,
    'log_server'::regclass::oid::text as "table", pg_postmaster_start_time()::text as "startedAt"
  from pg_control_system()`;

export async function currentServer(sql: Sql): Promise<RunningServer> {
  const [server] = await sql<RunningServer[]>`${currentServerIn(sql)}`;
  if (!server) throw new Error('Postgres did not say which server it is');
  return server;
}
