/** A private PgBouncer in transaction mode before a Postgres: it takes what its users take, and few server connections. */
import { chownSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import postgres from 'postgres';
import { findProgram, type Program } from './packages.ts';
import { type ServerOptions, startServer } from './server.ts';
import { reachableFolder, serviceUser } from './service-user.ts';

interface PgBouncerOptions extends ServerOptions {
  /** the address of Postgres, with the user and the password of both */
  databaseUrl: string;
}

export const findPgBouncer = (options: Pick<ServerOptions, 'say' | 'signal'> = {}): Promise<Program> =>
  findProgram({
    ...options,
    names: ['pgbouncer'],
    packages: ['pgbouncer'],
    inPackage: 'usr/sbin/pgbouncer',
    advice: 'PgBouncer is missing: install pgbouncer.',
  });

/** `settings`: lines of the section `[pgbouncer]`, such as `{ default_pool_size: '4' }` */
export async function startPgBouncer({
  databaseUrl,
  settings = {},
  port,
  say = () => {},
  signal,
  ...rest
}: PgBouncerOptions) {
  const { binary, env } = await findPgBouncer({ say, signal });
  const user = serviceUser();
  const dataDir = reachableFolder(path.resolve(rest.dataDir), user, say);
  const server = new URL(databaseUrl);
  const users = path.join(dataDir, 'users.txt');
  writeOwn(users, `"${server.username}" "${server.password}"\n`, user);
  const file = path.join(dataDir, 'pgbouncer.ini');
  const writeConfig = (onPort: number, to: URL) => {
    const all = {
      listen_addr: '127.0.0.1',
      listen_port: String(onPort),
      unix_socket_dir: '',
      auth_type: 'scram-sha-256',
      auth_file: users,
      pool_mode: 'transaction',
      // dbmate sends it
      ignore_startup_parameters: 'extra_float_digits',
      // after an outage of Postgres it would otherwise wait for 15 s
      server_login_retry: '1',
      // it starts as root to read its program, and goes on as this user
      ...(user && { user: user.name }),
      ...settings,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
    const database = `${to.pathname.slice(1)} = host=${to.hostname} port=${to.port}`;
    writeOwn(file, ['[databases]', database, '[pgbouncer]', ...lines, ''].join('\n'), user);
  };
  const running = await startServer({
    name: 'PgBouncer',
    dataDir,
    port,
    signal,
    urlOf: (onPort) => {
      const url = new URL(databaseUrl);
      url.host = `127.0.0.1:${onPort}`;
      return url.toString();
    },
    command: binary,
    argumentsOf: (onPort) => {
      writeConfig(onPort, server);
      return [file];
    },
    tether: { env, stopSignal: 'SIGINT' },
    probe: answer,
  });
  return {
    ...running,
    /** To another server, without a restart. */
    leadTo: (other: string) => {
      writeConfig(running.port, new URL(other));
      running.child.kill('SIGHUP');
    },
  };
}

function writeOwn(file: string, text: string, user: ReturnType<typeof serviceUser>): void {
  writeFileSync(file, text, { mode: 0o600 });
  if (user) chownSync(file, user.uid, user.gid);
}

async function answer(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, prepare: false, fetch_types: false, onnotice: () => {} });
  try {
    await sql`select 1`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}
