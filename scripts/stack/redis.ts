/** A private Redis server that writes every change to disk before it responds. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import { type Certificate, makeCertificate } from './certificate.ts';
import { findRedis } from './packages.ts';
import type { OnStop } from './private-stores.ts';
import { type RunningServer, readNumber, restartable, type ServerOptions, startServer, untilEnded } from './server.ts';

export type RunningRedis = RunningServer;

/** With TLS and a password, for clients and for other servers. */
export interface Secured {
  certificate: Certificate;
  password: string;
}

interface RedisOptions extends ServerOptions {
  secured?: Secured;
  /** Makes it a sentinel of other servers: the lines of its configuration. */
  sentinel?: string[];
}

/** Without a limit, jobs that wait for Postgres would use all memory of the machine. docker-compose.yml has the same. */
export const maxmemory = '1gb';

const keeping = { appendonly: 'yes', appendfsync: 'always', save: '""', maxmemory, 'maxmemory-policy': 'noeviction' };

/** `settings`: directives of redis.conf, such as `{ maxmemory: '64mb' }` */
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
    // a process title would hide the file name, by which a leftover process is found
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
      // a server of another process that took the port first responds, too
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
  // clients have no certificate
  'tls-auth-clients': 'no',
  'tls-replication': 'yes',
  requirepass: password,
});

/** Connects to one server, without retries. */
const connectTo = (url: string, certificate: Certificate | undefined): Redis =>
  new Redis(url, {
    ...(certificate && { tls: { ca: certificate.cert } }),
    maxRetriesPerRequest: 0,
    commandTimeout: 20_000,
  }).on('error', () => {});

/** Sends one command on a connection of its own. */
async function askRedis(url: string, certificate: Certificate | undefined, ...command: [string, ...string[]]) {
  const client = connectTo(url, certificate);
  try {
    return await client.call(...command);
  } finally {
    client.disconnect();
  }
}

export type GroupOptions = Pick<ServerOptions, 'dataDir' | 'settings' | 'signal'>;

/** `host`: the name of all servers, also in the certificate. Servers are registered to be stopped. */
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
  /** Can be killed and restarted, on its port and with its data. */
  const startAgainable = async (name: string, options: Omit<RedisOptions, 'dataDir'>) => {
    const again = (port?: number) => startOne(name, { ...options, port });
    return restartable(await again(), again);
  };
  const connect = ({ url }: { url: string }) => connectTo(url, certificate);
  const ask = ({ url }: { url: string }, ...command: [string, ...string[]]) => askRedis(url, certificate, ...command);
  return { certificate, startOne, startAgainable, connect, ask };
}
