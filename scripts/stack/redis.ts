/** A private Redis server that keeps what it acknowledged: every write is on disk before the answer. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import { type Certificate, makeCertificate } from './certificate.ts';
import { findRedis } from './packages.ts';
import type { OnStop } from './private-stores.ts';
import { type RunningServer, readNumber, restartable, type ServerOptions, startServer, untilEnded } from './server.ts';

export type RunningRedis = RunningServer;

/** With TLS and a password, for clients and for other servers alike. */
export interface Secured {
  certificate: Certificate;
  password: string;
}

interface RedisOptions extends ServerOptions {
  secured?: Secured;
  /** Instead of records it watches over servers that others started: the lines of its file that say which. */
  sentinel?: string[];
}

/** Without one, jobs that wait for Postgres would take all memory of the machine. docker-compose.yml has the same. */
export const maxmemory = '1gb';

const keeping = { appendonly: 'yes', appendfsync: 'always', save: '""', maxmemory, 'maxmemory-policy': 'noeviction' };

/** `settings`: directives as redis.conf has them, such as `{ maxmemory: '64mb' }` */
export async function startRedis({ settings = {}, port, say, signal, secured, sentinel, ...rest }: RedisOptions) {
  const { binary, env } = await findRedis({ say, signal });
  const dataDir = path.resolve(rest.dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const [pidFile, file] = [path.join(dataDir, 'redis.pid'), path.join(dataDir, 'redis.conf')];
  await untilEnded(readNumber(pidFile), file);
  const directives = {
    bind: '127.0.0.1',
    dir: `"${dataDir}"`,
    pidfile: `"${pidFile}"`,
    // a process title would hide the file, by which a leftover is known
    'set-proc-title': 'no',
    ...(!sentinel && keeping),
    ...(secured && tlsDirectives(secured)),
    ...(secured && !sentinel && { masterauth: secured.password }),
    ...settings,
  };
  const place = secured ? `rediss://:${secured.password}@${secured.certificate.host}` : 'redis://127.0.0.1';
  return startServer({
    name: sentinel ? 'Redis Sentinel' : 'Redis',
    dataDir,
    port,
    signal,
    urlOf: (onPort) => `${place}:${onPort}`,
    command: binary,
    argumentsOf: (onPort) => {
      const all = { ...directives, [secured ? 'tls-port' : 'port']: onPort };
      const lines = Object.entries(all).map(([name, value]) => `${name} ${value}`);
      writeFileSync(file, `${[...lines, ...(sentinel ?? [])].join('\n')}\n`, { mode: 0o600 });
      return [file, ...(sentinel ? ['--sentinel'] : [])];
    },
    tether: { env },
    probe: async (url, pid) => {
      await askRedis(url, secured?.certificate, 'PING');
      // one that another process was quicker to start at this port answers, too
      const info = String(await askRedis(url, secured?.certificate, 'INFO', 'server'));
      if (!info.includes(`process_id:${pid}\r`)) throw new Error('another server answers at its port');
    },
  });
}

const tlsDirectives = ({ certificate: { keyFile, certFile }, password }: Secured) => ({
  port: '0',
  'tls-cert-file': certFile,
  'tls-key-file': keyFile,
  'tls-ca-cert-file': certFile,
  // clients show no certificate
  'tls-auth-clients': 'no',
  'tls-replication': 'yes',
  requirepass: password,
});

/** To one server; one that does not answer is told at once. */
const connectTo = (url: string, certificate: Certificate | undefined): Redis =>
  new Redis(url, {
    ...(certificate && { tls: { ca: certificate.cert } }),
    maxRetriesPerRequest: 0,
    commandTimeout: 20_000,
  }).on('error', () => {});

/** One command on a connection of its own. */
async function askRedis(url: string, certificate: Certificate | undefined, ...command: [string, ...string[]]) {
  const client = connectTo(url, certificate);
  try {
    return await client.call(...command);
  } finally {
    client.disconnect();
  }
}

export type GroupOptions = Pick<ServerOptions, 'dataDir' | 'settings' | 'signal'>;

/** `host`: by which all of them are known, to the certificate too. What they start is registered to be stopped. */
export async function createGroup({ dataDir, signal }: GroupOptions, host: string, onStop: OnStop) {
  const certificate = await makeCertificate(dataDir, host);
  const startOne = async (name: string, options: Omit<RedisOptions, 'dataDir'>) => {
    const server = await startRedis({ dataDir: path.join(dataDir, name), signal, ...options });
    onStop(() => {
      server.kill();
      return server.exited;
    });
    return server;
  };
  /** Can be killed and started again, on its port and with its data. */
  const startAgainable = async (name: string, options: Omit<RedisOptions, 'dataDir'>) => {
    const again = (port?: number) => startOne(name, { ...options, port });
    return restartable(await again(), again);
  };
  const connect = ({ url }: { url: string }) => connectTo(url, certificate);
  const ask = ({ url }: { url: string }, ...command: [string, ...string[]]) => askRedis(url, certificate, ...command);
  return { certificate, startOne, startAgainable, connect, ask };
}
