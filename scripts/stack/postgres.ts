/** A private Postgres server: its own folder, its own password, one port on the loopback, no socket file. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import postgres from 'postgres';
import { Advice } from './advice.ts';
import { type Certificate, handCertificate } from './certificate.ts';
import { type CommandOptions, lastLines, runCommand } from './command.ts';
import { findPostgres } from './postgres-binaries.ts';
import { commandLine, readNumber, type ServerOptions, startServer, untilEnded } from './server.ts';
import { reachableFolder, serviceUser, writeFor } from './service-user.ts';

export type RunningPostgres = Awaited<ReturnType<typeof startPostgres>>;

const NAME = 'assent';

const own = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // otherwise the log quotes rows that are refused
  log_error_verbosity: 'terse',
};

interface PostgresOptions extends ServerOptions {
  /** beside our own environment */
  env?: Record<string, string> | undefined;
  /** it then takes connections with TLS, too */
  certificate?: Certificate | undefined;
}

/**
 * `settings`: server settings, such as `{ fsync: 'off' }`. The returned `dataDir` is elsewhere than asked if the user
 * that Postgres runs as cannot reach it.
 */
export async function startPostgres(options: PostgresOptions) {
  const { settings = {}, env, certificate, port, say = () => {}, signal } = options;
  const user = serviceUser();
  const dataDir = reachableFolder(path.resolve(options.dataDir), user, say);
  const cluster = path.join(dataDir, 'cluster');
  // the checkout may have been started as another user before
  if (user !== undefined && existsSync(cluster) && statSync(cluster).uid !== user.uid) {
    spawnSync('chown', ['-R', `${user.uid}:${user.gid}`, dataDir]);
  }
  const madeBy = readNumber(path.join(cluster, 'PG_VERSION'));
  const binDir = await findPostgres({ madeBy, user, say, signal });
  const passwordFile = path.join(dataDir, 'password');
  if (!existsSync(cluster)) {
    writeFor(user, passwordFile, randomBytes(24).toString('hex'));
    const flags = [`--pwfile=${passwordFile}`, ...(settings.fsync === 'off' ? ['--no-sync'] : [])];
    await initialize(path.join(binDir, 'initdb'), flags, { ...user, signal, cwd: dataDir });
  }
  const postgresAt = path.join(binDir, 'postgres');
  // the write-ahead log holds whole pages after each checkpoint; not every Postgres was built with this
  const lz4 = { wal_compression: 'lz4' };
  const asked = ['-D', cluster, '-c', 'wal_compression=lz4', '-C', 'wal_compression'];
  const { code } = await runCommand(postgresAt, asked, { ...user, cwd: dataDir, signal });
  const pidFile = path.join(cluster, 'postmaster.pid');
  const leftover = readNumber(pidFile);
  await untilEnded(leftover, cluster);
  // in a container the same small number soon belongs to another program of ours, and Postgres would refuse to start
  if (leftover && !/^$|postgres/.test(commandLine(leftover))) rmSync(pidFile, { force: true });
  const password = readFileSync(passwordFile, 'utf8').trim();
  const handed = certificate && handCertificate(certificate, dataDir, user);
  const tls = handed && { ssl: 'on', ssl_key_file: handed.keyFile, ssl_cert_file: handed.certFile };
  const server = await startServer({
    name: 'Postgres',
    dataDir,
    port,
    signal,
    urlOf: (onPort) => `postgres://${NAME}:${password}@127.0.0.1:${onPort}/${NAME}?sslmode=disable`,
    command: postgresAt,
    argumentsOf: (onPort) => {
      const all = { ...own, ...(code === 0 && lz4), port: onPort, ...tls, ...settings };
      return ['-D', cluster, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    },
    // fast shutdown: it does not wait for clients
    tether: { ...user, env: { ...process.env, ...env }, stopSignal: 'SIGINT', stopDeadlineMs: 20_000 },
    probe: ensureDatabase,
  });
  /** Without a shutdown: the next start recovers. */
  const kill = () => void server.child.kill('SIGQUIT');
  return { ...server, kill };
}

/** The working directory gets a `cluster`, whole or not at all. */
async function initialize(initdb: string, flags: string[], options: CommandOptions & { cwd: string }) {
  const unfinished = path.join(options.cwd, 'cluster.unfinished');
  const all = ['-D', unfinished, '--encoding=UTF8', `--username=${NAME}`, '--auth=scram-sha-256', ...flags];
  let failure = '';
  for (const locale of ['C.UTF-8', 'C']) {
    rmSync(unfinished, { recursive: true, force: true });
    const { code, output } = await runCommand(initdb, [...all, `--locale=${locale}`], options);
    if (code === 0) return renameSync(unfinished, path.join(options.cwd, 'cluster'));
    failure = output;
  }
  throw new Advice(`initdb failed\n${lastLines(failure)}`);
}

/** Postgres is ready once a client gets an answer and our database is there. */
async function ensureDatabase(url: string) {
  const admin = new URL(url);
  admin.pathname = '/postgres';
  await onConnection(admin.href, {}, async (sql) => {
    const [found] = await sql`select 1 from pg_database where datname = ${NAME}`;
    if (found === undefined) await sql`create database ${sql(NAME)}`;
  });
}

/** On a connection that is opened for it. */
export async function onConnection<T>(
  url: string,
  options: postgres.Options<Record<string, never>>,
  work: (sql: postgres.Sql) => Promise<T>,
): Promise<T> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => {}, ...options });
  return work(sql).finally(() => sql.end({ timeout: 1 }));
}
