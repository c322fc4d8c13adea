/** A private Postgres server: its own folder, its own password, one port on the loopback, no socket file. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import postgres from 'postgres';
import { Advice } from './advice.ts';
import { type Certificate, handCertificate } from './certificate.ts';
import { lastLines, runCommand } from './command.ts';
import { findPostgres } from './postgres-binaries.ts';
import { commandLine, endLeftover, readNumber, type ServerOptions, startServer } from './server.ts';
import { reachableFolder, type ServiceUser, serviceUser, writeFor } from './service-user.ts';

export type RunningPostgres = Awaited<ReturnType<typeof startPostgres>>;

const NAME = 'assent';

interface PostgresOptions extends ServerOptions {
  /** it then takes connections with TLS, too */
  certificate?: Certificate | undefined;
}

/**
 * `settings`: server settings, such as `{ fsync: 'off' }`. The returned `dataDir` is elsewhere than asked if the user
 * that Postgres runs as cannot reach it.
 */
export async function startPostgres({
  settings = {},
  certificate,
  port,
  say = () => {},
  signal,
  ...rest
}: PostgresOptions) {
  const user = serviceUser();
  const dataDir = reachableFolder(path.resolve(rest.dataDir), user, say);
  const cluster = path.join(dataDir, 'cluster');
  // the checkout may have been started as another user before
  if (user !== undefined && existsSync(cluster) && statSync(cluster).uid !== user.uid) {
    spawnSync('chown', ['-R', `${user.uid}:${user.gid}`, dataDir]);
  }
  const madeBy = readNumber(path.join(cluster, 'PG_VERSION'));
  const binDir = await findPostgres({ madeBy, user, say, signal });
  const passwordFile = path.join(dataDir, 'password');
  const flags = settings.fsync === 'off' ? ['--no-sync'] : [];
  if (!existsSync(cluster)) await initialize(path.join(binDir, 'initdb'), dataDir, { user, flags, signal });
  await clearStalePid(cluster);
  if (!existsSync(passwordFile)) {
    throw new Advice(`${passwordFile} is gone: remove ${dataDir} to start with an empty database.`);
  }
  const password = readFileSync(passwordFile, 'utf8').trim();
  const all = { ...(certificate && tlsSettings(handCertificate(certificate, dataDir, user))), ...settings };
  const server = await startServer({
    name: 'Postgres',
    dataDir,
    port,
    signal,
    urlOf: (onPort) => `postgres://${NAME}:${password}@127.0.0.1:${onPort}/${NAME}?sslmode=disable`,
    command: path.join(binDir, 'postgres'),
    argumentsOf: (onPort) => ['-D', cluster, ...serverArguments(onPort, all)],
    // fast shutdown: it does not wait for clients
    tether: { ...user, stopSignal: 'SIGINT', stopDeadlineMs: 20_000 },
    probe: ensureDatabase,
  });
  /** Without a shutdown: the next start recovers. */
  const kill = () => void server.child.kill('SIGQUIT');
  return { ...server, kill };
}

interface Initialize extends Pick<ServerOptions, 'signal'> {
  user: ServiceUser | undefined;
  flags: string[];
}

async function initialize(initdb: string, dataDir: string, { user, flags, signal }: Initialize) {
  const passwordFile = path.join(dataDir, 'password');
  writeFor(user, passwordFile, randomBytes(24).toString('hex'));
  const unfinished = path.join(dataDir, 'cluster.unfinished');
  const access = [`--username=${NAME}`, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  let failure = '';
  for (const locale of ['C.UTF-8', 'C']) {
    rmSync(unfinished, { recursive: true, force: true });
    const args = ['-D', unfinished, '--encoding=UTF8', `--locale=${locale}`, ...access, ...flags];
    const { code, output } = await runCommand(initdb, args, { ...user, signal, cwd: dataDir });
    if (code === 0) return renameSync(unfinished, path.join(dataDir, 'cluster'));
    failure = output;
  }
  throw new Advice(`initdb failed\n${lastLines(failure)}`);
}

async function clearStalePid(cluster: string) {
  const pidFile = path.join(cluster, 'postmaster.pid');
  const pid = readNumber(pidFile);
  if (pid === undefined) return;
  await endLeftover(pid, cluster, 'SIGINT');
  // in a container the same small number soon belongs to another program of ours, and Postgres would refuse to start
  const owner = commandLine(pid);
  if (owner !== '' && !owner.includes('postgres')) rmSync(pidFile, { force: true });
}

const tlsSettings = ({ keyFile, certFile }: Pick<Certificate, 'keyFile' | 'certFile'>) => ({
  ssl: 'on',
  ssl_key_file: keyFile,
  ssl_cert_file: certFile,
});

function serverArguments(port: number, settings: Record<string, string>): string[] {
  const all = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // otherwise the log quotes rows that are refused
    log_error_verbosity: 'terse',
    ...settings,
  };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Postgres is ready once a client gets an answer and our database is there. */
async function ensureDatabase(url: string) {
  const admin = new URL(url);
  admin.pathname = '/postgres';
  const sql = postgres(admin.href, { max: 1, connect_timeout: 5, onnotice: () => {} });
  try {
    const [found] = await sql`select 1 from pg_database where datname = ${NAME}`;
    if (found === undefined) await sql`create database ${sql(NAME)}`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}
