/** Where pg_dump and its like are: npm's Postgres comes without them. */
import path from 'node:path';
import { findPostgres, majorOf } from '../../scripts/stack/postgres.ts';
import { serviceUser } from '../../scripts/stack/service-user.ts';

/** A folder in which they are as new as the server; undefined where there is none. */
export async function findPostgresClients(): Promise<string | undefined> {
  const server = await findPostgres({ user: serviceUser(), say: () => {} });
  const folders = [server, ...(process.env.PATH ?? '').split(path.delimiter)];
  const wanted = majorOf(path.join(server, 'postgres'));
  return folders.find((folder) => majorOf(path.join(folder, 'pg_dump')) >= wanted);
}
