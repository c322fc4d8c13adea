/** A private Postgres server: its own folder, its own password, one port on the loopback, no socket file. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import postgres from 'postgres';
import { Advice, describe } from './advice.ts';
import { lastLines, runCommand } from './command.ts';
import { commandLine, endLeftover, readPid } from './leftover.ts';
import { freePort } from './ports.ts';
import { findPostgres } from './postgres-binaries.ts';
import { reachableFolder, type ServiceUser, serviceUser } from './service-user.ts';
import { spawnTethered } from './tether.ts';
import { waitUntil } from './wait.ts';

export interface PostgresOptions {
  /** Made when missing, and all of it ours: the cluster, its password, its log. */
  dataDir: string;
  port?: number | undefined;
  /** Server settings, such as `{ fsync: 'off' }`. */
  settings?: Record<string, string>;
  say?: (line: string) => void;
  /** Gives up, and leaves nothing running, when aborted before the server answers. */
  signal?: AbortSignal | undefined;
}

export interface RunningPostgres {
  url: string;
  port: number;
  pid: number;
  binDir: string;
  major: number;
  /** Where the folder really is: elsewhere than asked when the user that Postgres runs as cannot reach it. */
  dataDir: string;
  logFile: string;
  exited: Promise<unknown>;
  stop(): Promise<void>;
  /** Without a shutdown: the next start recovers. */
  kill(): void;
}

const USER = 'assent';
const DATABASE = 'assent';

export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const { settings = {}, say = () => {}, signal } = options;
  const user = serviceUser();
  const dataDir = prepareFolder(path.resolve(options.dataDir), user, say);
  const cluster = path.join(dataDir, 'cluster');
  const { binDir, major } = await findPostgres({ madeBy: versionOf(cluster), user, say, signal });
  const passwordFile = path.join(dataDir, 'password');
  const logFile = path.join(dataDir, 'server.log');

  if (!existsSync(cluster)) await initialize({ binDir, cluster, passwordFile, user, settings, signal });
  await clearStalePid(cluster);
  const password = readPassword(passwordFile, dataDir);

  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort());
    const url = `postgres://${USER}:${password}@127.0.0.1:${port}/${DATABASE}?sslmode=disable`;
    const log = openSync(logFile, 'w', 0o600);
    const server = spawnTethered(path.join(binDir, 'postgres'), ['-D', cluster, ...serverArguments(port, settings)], {
      uid: user?.uid,
      gid: user?.gid,
      cwd: dataDir,
      stdout: log,
      stderr: log,
      stopSignal: 'SIGINT', // fast shutdown: it does not wait for clients
      stopDeadlineMs: 20_000,
    });
    closeSync(log);
    try {
      await untilReady({ url, running: server.running, signal });
    } catch (error) {
      await server.stop();
      const lines = readFileSync(logFile, 'utf8');
      const taken = lines.includes('Address already in use');
      if (taken && options.port === undefined && attempt < 3) continue;
      if (signal?.aborted) throw error;
      if (taken) throw new Advice(`Port ${port} is taken: Postgres cannot listen there.`);
      throw new Advice(`Postgres did not start: ${describe(error)}\n${lastLines(lines)}`);
    }
    const stop = async () => void (await server.stop());
    const kill = () => void server.child.kill('SIGQUIT');
    const { pid, exited } = server;
    return { url, port, pid, binDir, major, dataDir, logFile, exited, stop, kill };
  }
}

function prepareFolder(wanted: string, user: ServiceUser | undefined, say: (line: string) => void): string {
  const dataDir = reachableFolder(wanted, user, say);
  const cluster = path.join(dataDir, 'cluster');
  // The checkout may have been started as another user before.
  if (user !== undefined && existsSync(cluster) && statSync(cluster).uid !== user.uid) {
    spawnSync('chown', ['-R', `${user.uid}:${user.gid}`, dataDir]);
  }
  return dataDir;
}

function versionOf(cluster: string): number | undefined {
  const file = path.join(cluster, 'PG_VERSION');
  return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : undefined;
}

interface InitializeOptions {
  binDir: string;
  cluster: string;
  passwordFile: string;
  user: ServiceUser | undefined;
  settings: Record<string, string>;
  signal: AbortSignal | undefined;
}

async function initialize({ binDir, cluster, passwordFile, user, settings, signal }: InitializeOptions) {
  writeFileSync(passwordFile, randomBytes(24).toString('hex'), { mode: 0o600 });
  if (user !== undefined) chownSync(passwordFile, user.uid, user.gid);
  const unfinished = `${cluster}.unfinished`;
  const access = [`--username=${USER}`, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  const speed = settings.fsync === 'off' ? ['--no-sync'] : [];
  let failure = '';
  for (const locale of ['C.UTF-8', 'C']) {
    rmSync(unfinished, { recursive: true, force: true });
    const { code, output } = await runCommand(
      path.join(binDir, 'initdb'),
      ['-D', unfinished, '--encoding=UTF8', `--locale=${locale}`, ...access, ...speed],
      { uid: user?.uid, gid: user?.gid, cwd: path.dirname(cluster), signal },
    );
    if (code === 0) {
      renameSync(unfinished, cluster);
      return;
    }
    failure = output;
  }
  throw new Advice(`initdb failed\n${lastLines(failure)}`);
}

function readPassword(file: string, dataDir: string): string {
  if (!existsSync(file)) throw new Advice(`${file} is gone: remove ${dataDir} to begin with an empty database.`);
  return readFileSync(file, 'utf8').trim();
}

async function clearStalePid(cluster: string) {
  const pidFile = path.join(cluster, 'postmaster.pid');
  const pid = readPid(pidFile);
  if (pid === undefined) return;
  await endLeftover(pid, cluster, 'SIGINT');
  // In a container the same small number soon belongs to another program of ours, and Postgres would refuse to start.
  const owner = commandLine(pid);
  if (owner !== '' && !owner.includes('postgres')) rmSync(pidFile, { force: true });
}

function serverArguments(port: number, settings: Record<string, string>): string[] {
  const all = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...settings,
  };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

interface ReadyOptions {
  url: string;
  running: () => boolean;
  signal: AbortSignal | undefined;
}

/** Ready is when a client gets an answer and our database is there; recovery after a crash may take its time. */
async function untilReady({ url, running, signal }: ReadyOptions) {
  let last: unknown;
  const probe = async () => {
    if (!running()) throw new Error('it ended');
    try {
      await ensureDatabase(url);
      return true;
    } catch (error) {
      last = error;
      return false;
    }
  };
  if (!(await waitUntil(probe, { deadlineMs: 120_000, signal }))) throw last;
}

async function ensureDatabase(url: string) {
  const admin = new URL(url);
  admin.pathname = '/postgres';
  const sql = postgres(admin.href, { max: 1, connect_timeout: 5, onnotice: () => {} });
  try {
    const [found] = await sql`select 1 from pg_database where datname = ${DATABASE}`;
    if (found === undefined) await sql`create database ${sql(DATABASE)}`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}
