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

export async function currentServer(sql: Sql): Promise<Server> {
  const [server] = await sql<Server[]>`
    select system_identifier::text as "systemIdentifier", left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline,
      (select oid::text from pg_database where datname = current_database()) as database
    from pg_control_system()`;
  if (!server) throw new Error('Postgres did not say which server it is');
  return server;
}

/** When it was started, as Postgres writes it: whatever was set back behind our back was restarted. */
export async function startedAt(sql: Sql): Promise<string> {
  const [row] = await sql<{ at: string }[]>`select pg_postmaster_start_time()::text as at`;
  return row?.at ?? '';
}
