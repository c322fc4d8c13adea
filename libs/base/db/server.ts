/** Identifies a server and its tables: restored ones, and those of a promoted replica, differ from those before. */
import type { Sql } from './database.ts';

export interface Server {
  systemIdentifier: string;
  timeline: string;
  /** its oid; '' if unknown */
  database: string;
  /** the oid of `log_server`, which changes when a dump is restored into the same database; '' if unknown */
  table: string;
}

const mayBeSame = (one: string, other: string): boolean => one === '' || other === '' || one === other;

/** Whether everything that was stored before is still there. */
export const isSame = (one: Server, other: Server): boolean =>
  one.systemIdentifier === other.systemIdentifier &&
  one.timeline === other.timeline &&
  mayBeSame(one.database, other.database) &&
  mayBeSame(one.table, other.table);

export interface RunningServer extends Server {
  /** in Postgres' own format; a server that was reset to an earlier state has been restarted, so this differs */
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
