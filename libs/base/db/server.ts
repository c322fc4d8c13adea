/** Which database of which server it is: a restored copy and a promoted replica are others than the one before. */
import type { Sql } from './database.ts';

export interface Server {
  systemIdentifier: string;
  timeline: string;
  /** its oid; '' where it was not noted */
  database: string;
}

/** Whether nothing can be missing that was there before. */
export const isSame = (one: Server, other: Server): boolean =>
  one.systemIdentifier === other.systemIdentifier &&
  one.timeline === other.timeline &&
  (one.database === '' || other.database === '' || one.database === other.database);

export interface RunningServer extends Server {
  /** as Postgres writes it: whatever was set back behind our back was restarted */
  startedAt: string;
}

/** A row of `RunningServer`. */
export const currentServerIn = (sql: Sql) => sql`
  select system_identifier::text as "systemIdentifier", left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline,
    (select oid::text from pg_database where datname = current_database()) as database,
    pg_postmaster_start_time()::text as "startedAt"
  from pg_control_system()`;

export async function currentServer(sql: Sql): Promise<RunningServer> {
  const [server] = await sql<RunningServer[]>`${currentServerIn(sql)}`;
  if (!server) throw new Error('Postgres did not say which server it is');
  return server;
}
