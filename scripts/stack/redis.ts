/** A private Redis server that keeps what it acknowledged: every write is on disk before the answer. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { findRedis } from './packages.ts';
import { endLeftover, type RunningServer, readNumber, type ServerOptions, startServer } from './server.ts';
import { spawnTethered } from './tether.ts';

export type RunningRedis = RunningServer;

/** `settings`: directives of redis.conf, such as `{ maxmemory: '64mb' }` */
export async function startRedis({ settings = {}, port, say, signal, ...rest }: ServerOptions): Promise<RunningRedis> {
  const { binary, env } = await findRedis({ ...(say && { say }), signal });
  const dataDir = path.resolve(rest.dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const configFile = path.join(dataDir, 'redis.conf');
  const pidFile = path.join(dataDir, 'redis.pid');
  const leftover = readNumber(pidFile);
  if (leftover !== undefined) await endLeftover(leftover, configFile, 'SIGTERM');

  const writeConfig = (onPort: number) => {
    const all = {
      bind: '127.0.0.1',
      port: String(onPort),
      dir: JSON.stringify(dataDir),
      pidfile: JSON.stringify(pidFile),
      appendonly: 'yes',
      appendfsync: 'always',
      save: '',
      'maxmemory-policy': 'noeviction',
      // a process title would hide the path of this file, by which a leftover is known
      'set-proc-title': 'no',
      ...settings,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name} ${value || '""'}\n`);
    writeFileSync(configFile, lines.join(''), { mode: 0o600 });
  };
  return startServer({
    name: 'Redis',
    dataDir,
    port,
    signal,
    urlOf: (onPort) => `redis://127.0.0.1:${onPort}`,
    spawn: (onPort, log) => {
      writeConfig(onPort);
      return spawnTethered(binary, [configFile], { env, cwd: dataDir, stdout: log, stderr: log });
    },
    probe: ping,
  });
}

/** While Redis loads its file, it answers with an error. */
function ping(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', timeout: 2_000 }, () =>
      socket.write('PING\r\n'),
    );
    const finish = (answer: string) => {
      socket.destroy();
      if (answer.startsWith('+PONG')) resolve();
      else reject(new Error(`it answers ${answer || 'nothing'}`));
    };
    socket.once('data', (answer) => finish(String(answer)));
    for (const event of ['timeout', 'error', 'end']) socket.once(event, () => finish(''));
  });
}
