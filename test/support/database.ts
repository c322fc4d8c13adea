/** Databases on the server that all files share. */
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { atEnd } from './at-end.ts';
import { eventually } from './wait.ts';

/** Statements as the login of that address, on one connection that closes with the file. */
export function connectAs(url: string): postgres.Sql {
  const sql = postgres(url.replace(/\?.*$/, ''), { max: 1, onnotice: () => {} });
  atEnd(() => sql.end({ timeout: 1 }));
  return sql;
}

/** Makes a database without a schema on that server, and returns its address. */
export async function createEmptyDatabase(server: string): Promise<string> {
  const url = new URL(server);
  const name = `empty_${randomBytes(8).toString('hex')}`;
  const sql = postgres(server.replace(/\?.*$/, ''), { max: 1 });
  await sql.unsafe(`create database ${name} template template0`);
  await sql.end();
  url.pathname = `/${name}`;
  return url.toString();
}

/** Makes an empty, migrated database beside the template that `server` names, and returns its address. */
export async function copyDatabase(server: string): Promise<string> {
  const url = new URL(server);
  const template = url.pathname.slice(1);
  const name = `test_${randomBytes(8).toString('hex')}`;
  const admin = new URL(url);
  admin.pathname = '/postgres';
  admin.searchParams.delete('sslmode');
  const sql = postgres(admin.toString(), { max: 1, onnotice: () => {} });
  try {
    // Postgres copies a template only while nobody is connected to it, and another file may be copying it now
    // as files: by way of the write-ahead log, which is the default, it takes twice as long
    await eventually(() => sql.unsafe(`create database ${name} template ${template} strategy file_copy`), {
      every: 50,
    });
  } finally {
    await sql.end();
  }
  url.pathname = `/${name}`;
  return url.toString();
}
