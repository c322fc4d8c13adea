/** A private Redis server that keeps what it acknowledged: every write is on disk before the answer. */
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { findRedis } from './packages.ts';
import { endLeftover, type RunningServer, readNumber, type ServerOptions, startServer } from './server.ts';

export type RunningRedis = RunningServer;

/** Without one, jobs that wait for Postgres would take all memory of the machine. docker-compose.yml has the same. */
export const maxmemory = '1gb';

/** `settings`: directives as redis.conf has them, such as `{ maxmemory: '64mb' }` */
export async function startRedis({ settings = {}, port, say, signal, ...rest }: ServerOptions): Promise<RunningRedis> {
  const { binary, env } = await findRedis({ ...(say && { say }), signal });
  const dataDir = path.resolve(rest.dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const pidFile = path.join(dataDir, 'redis.pid');
  const leftover = readNumber(pidFile);
  if (leftover !== undefined) await endLeftover(leftover, pidFile, 'SIGTERM');
  const directives = {
    bind: '127.0.0.1',
    dir: dataDir,
    pidfile: pidFile,
    appendonly: 'yes',
    appendfsync: 'always',
    save: '',
    maxmemory,
    'maxmemory-policy': 'noeviction',
    // a process title would hide the arguments, by which a leftover is known
    'set-proc-title': 'no',
    ...settings,
  };
  return startServer({
    name: 'Redis',
    dataDir,
    port,
    signal,
    urlOf: (onPort) => `redis://127.0.0.1:${onPort}`,
    command: binary,
    argumentsOf: (onPort) =>
      Object.entries({ ...directives, port: String(onPort) }).flatMap(([name, value]) => [`--${name}`, value]),
    tether: { env },
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
