/** A private Redis server that keeps what it acknowledged: every write is on disk before the answer. */
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { Advice, describe } from './advice.ts';
import { lastLines } from './command.ts';
import { endLeftover, readPid } from './leftover.ts';
import { findRedis } from './packages.ts';
import { freePort } from './ports.ts';
import { spawnTethered } from './tether.ts';
import { waitUntil } from './wait.ts';

export interface RedisOptions {
  /** Made when missing, and all of it ours: the append-only file, the configuration, the log. */
  dataDir: string;
  port?: number | undefined;
  /** Directives of redis.conf, such as `{ maxmemory: '64mb' }`. */
  settings?: Record<string, string>;
  say?: (line: string) => void;
  /** Gives up, and leaves nothing running, when aborted before the server answers. */
  signal?: AbortSignal | undefined;
}

export interface RunningRedis {
  url: string;
  port: number;
  pid: number;
  logFile: string;
  exited: Promise<unknown>;
  stop(): Promise<void>;
  kill(): void;
}

export async function startRedis(options: RedisOptions): Promise<RunningRedis> {
  const { settings = {}, say = () => {}, signal } = options;
  const { binary, env } = await findRedis({ say, signal });
  const dataDir = path.resolve(options.dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const configFile = path.join(dataDir, 'redis.conf');
  const pidFile = path.join(dataDir, 'redis.pid');
  const logFile = path.join(dataDir, 'server.log');
  const leftover = readPid(pidFile);
  if (leftover !== undefined) await endLeftover(leftover, configFile, 'SIGTERM');

  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort());
    writeFileSync(configFile, configuration({ port, dataDir, pidFile, settings }), { mode: 0o600 });
    const log = openSync(logFile, 'w', 0o600);
    const server = spawnTethered(binary, [configFile], { env, cwd: dataDir, stdout: log, stderr: log });
    closeSync(log);
    try {
      await untilReady(port, server.running, signal);
    } catch (error) {
      await server.stop();
      const lines = readFileSync(logFile, 'utf8');
      const taken = lines.includes('Address already in use');
      if (taken && options.port === undefined && attempt < 3) continue;
      if (signal?.aborted) throw error;
      if (taken) throw new Advice(`Port ${port} is taken: Redis cannot listen there.`);
      throw new Advice(`Redis did not start: ${describe(error)}\n${lastLines(lines)}`);
    }
    const stop = async () => void (await server.stop());
    const { pid, exited, kill } = server;
    return { url: `redis://127.0.0.1:${port}`, port, pid, logFile, exited, stop, kill };
  }
}

interface ConfigurationOptions {
  port: number;
  dataDir: string;
  pidFile: string;
  settings: Record<string, string>;
}

function configuration({ port, dataDir, pidFile, settings }: ConfigurationOptions): string {
  const all = {
    bind: '127.0.0.1',
    port: String(port),
    dir: JSON.stringify(dataDir),
    pidfile: JSON.stringify(pidFile),
    appendonly: 'yes',
    appendfsync: 'always',
    save: '',
    'maxmemory-policy': 'noeviction',
    // A title of its own would hide the path of this file, by which a leftover is known.
    'set-proc-title': 'no',
    ...settings,
  };
  return Object.entries(all)
    .map(([name, value]) => `${name} ${value || '""'}\n`)
    .join('');
}

/** Ready is when it answers PING with PONG; while it loads its file, it answers with an error. */
async function untilReady(port: number, running: () => boolean, signal: AbortSignal | undefined) {
  const probe = async () => {
    if (!running()) throw new Error('it ended');
    return (await ping(port)).startsWith('+PONG');
  };
  if (!(await waitUntil(probe, { deadlineMs: 120_000, signal }))) throw new Error('no answer in 120 s');
}

function ping(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: 2_000 }, () => socket.write('PING\r\n'));
    const finish = (answer: string) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('data', (answer) => finish(String(answer)));
    socket.once('timeout', () => finish(''));
    socket.once('error', () => finish(''));
    socket.once('end', () => finish(''));
  });
}
