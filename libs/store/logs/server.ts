/** Which server Postgres is: a restored copy and a promoted replica are others than the one that the logs were sealed on. */
import type { Sql } from '../sql.ts';

export interface Server {
  systemIdentifier: string;
  timeline: string;
}

export async function currentServer(sql: Sql): Promise<Server> {
  const [server] = await sql<Server[]>`
    select system_identifier::text as "systemIdentifier", left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline
    from pg_control_system()`;
  if (!server) throw new Error('Postgres did not say which server it is');
  return server;
}

/** The one that the logs were sealed on last; undefined before the first time. */
export async function sealedOn(sql: Sql): Promise<Server | undefined> {
  const [server] = await sql<Server[]>`
    select system_identifier as "systemIdentifier", timeline from log_server`;
  return server;
}

export async function sealOn(sql: Sql, { systemIdentifier, timeline }: Server): Promise<void> {
  await sql`
    insert into log_server (system_identifier, timeline) values (${systemIdentifier}, ${timeline})
    on conflict (single) do update set system_identifier = excluded.system_identifier, timeline = excluded.timeline`;
}
