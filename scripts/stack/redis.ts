/** A private Redis server that keeps what it acknowledged: every write is on disk before the answer. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, isIP, type Socket } from 'node:net';
import path from 'node:path';
import { connect as connectSecurely } from 'node:tls';
import type { Certificate } from './certificate.ts';
import { findRedis } from './packages.ts';
import { endLeftover, type RunningServer, readNumber, type ServerOptions, startServer } from './server.ts';

export type RunningRedis = RunningServer;

/** With TLS and a password, for clients and for other servers alike. */
export interface Secured {
  certificate: Certificate;
  password: string;
}

export interface RedisOptions extends ServerOptions {
  secured?: Secured;
  /** Instead of records it watches over servers that others started: the lines of its file that say which. */
  sentinel?: string[];
}

/** Without one, jobs that wait for Postgres would take all memory of the machine. docker-compose.yml has the same. */
export const maxmemory = '1gb';

const keeping = {
  appendonly: 'yes',
  appendfsync: 'always',
  save: '',
  maxmemory,
  'maxmemory-policy': 'noeviction',
};

/** `settings`: directives as redis.conf has them, such as `{ maxmemory: '64mb' }` */
export async function startRedis({ settings = {}, port, say, signal, secured, sentinel, ...rest }: RedisOptions) {
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
    // a process title would hide the arguments, by which a leftover is known
    'set-proc-title': 'no',
    ...(!sentinel && keeping),
    ...(secured && tlsDirectives(secured.certificate)),
    ...settings,
  };
  const file = writePrivateDirectives(dataDir, secured, sentinel);
  const place = secured ? `rediss://:${secured.password}@${secured.certificate.host}` : 'redis://127.0.0.1';
  return startServer({
    name: sentinel ? 'Redis Sentinel' : 'Redis',
    dataDir,
    port,
    signal,
    urlOf: (onPort) => `${place}:${onPort}`,
    command: binary,
    argumentsOf: (onPort) => [
      ...(file ? [file] : []),
      ...(sentinel ? ['--sentinel'] : []),
      ...Object.entries({ ...directives, ...portDirectives(onPort, secured) }).flatMap(([name, value]) => [
        `--${name}`,
        value,
      ]),
    ],
    tether: { env },
    probe: (url) => ping(url, secured),
  });
}

const portDirectives = (port: number, secured: Secured | undefined): Record<string, string> =>
  secured ? { port: '0', 'tls-port': String(port) } : { port: String(port) };

const tlsDirectives = ({ keyFile, certFile }: Certificate) => ({
  'tls-cert-file': certFile,
  'tls-key-file': keyFile,
  'tls-ca-cert-file': certFile,
  // clients show no certificate
  'tls-auth-clients': 'no',
  'tls-replication': 'yes',
});

/** The arguments of a process are for everybody to see. Returns the file's path, if there is one. */
function writePrivateDirectives(folder: string, secured: Secured | undefined, sentinel: string[] | undefined) {
  if (!secured && !sentinel) return undefined;
  const file = path.join(folder, 'redis.conf');
  const password = secured ? [`requirepass ${secured.password}`] : [];
  const toOthers = secured && !sentinel ? [`masterauth ${secured.password}`] : [];
  writeFileSync(file, `${[...password, ...toOthers, ...(sentinel ?? [])].join('\n')}\n`, { mode: 0o600 });
  return file;
}

/** While Redis loads its file, it answers with an error. */
function ping(url: string, secured: Secured | undefined): Promise<void> {
  const port = Number(new URL(url).port);
  return new Promise((resolve, reject) => {
    const socket = secured ? connectWith(secured, port) : connect({ port, host: '127.0.0.1' });
    const questions = [...(secured ? [`AUTH ${secured.password}`] : []), 'PING'];
    let answers = '';
    socket.setTimeout(2_000);
    socket.once(secured ? 'secureConnect' : 'connect', () => socket.write(`${questions.join('\r\n')}\r\n`));
    const finish = (problem = '') => {
      socket.destroy();
      if (answers.endsWith('+PONG\r\n')) resolve();
      else reject(new Error(problem || `it answers ${answers || 'nothing'}`));
    };
    socket.on('data', (answer) => {
      answers += String(answer);
      if (answers.split('\r\n').length > questions.length) finish();
    });
    socket.once('error', (error) => finish(error.message));
    for (const event of ['timeout', 'end']) socket.once(event, () => finish());
  });
}

function connectWith({ certificate: { host, cert } }: Secured, port: number): Socket {
  return connectSecurely({ port, host: '127.0.0.1', ca: cert, ...(isIP(host) === 0 && { servername: host }) });
}
