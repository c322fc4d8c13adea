/** A private Redis with one replica, and three sentinels over them that promote it: all with TLS and passwords. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { Redis } from 'ioredis';
import type { RedisAddress } from '#libs/runtime/redis';
import { makeCertificate } from './certificate.ts';
import { type RunningRedis, type Secured, startRedis } from './redis.ts';
import { restartable } from './restartable.ts';
import type { ServerOptions } from './server.ts';
import { waitUntil } from './wait.ts';

export type RedisSentinels = Awaited<ReturnType<typeof startRedisSentinels>>;

/** by which the sentinels know it */
const master = 'assent';
const host = '127.0.0.1';
const watchers = 3;
const quorum = 2;
/** Milliseconds: longer than the sentinels take to promote the replica, and to say so. */
const pause = 5_000;

const settings = { 'repl-diskless-sync-delay': '0' };

export async function startRedisSentinels({ dataDir, settings: own, signal }: Omit<ServerOptions, 'port' | 'say'>) {
  const certificate = await makeCertificate(dataDir, host);
  const password = () => randomBytes(24).toString('hex');
  const secured: Secured = { certificate, password: password() };
  const securedSentinels: Secured = { certificate, password: password() };
  const started: RunningRedis[] = [];
  const start = async (name: string, options: Omit<Parameters<typeof startRedis>[0], 'dataDir'>) => {
    const server = await startRedis({ dataDir: path.join(dataDir, name), signal, ...options });
    started.push(server);
    return server;
  };
  const stop = async () => {
    for (const server of started) server.kill();
    await Promise.all(started.map(({ exited }) => exited));
  };
  const connect = ({ url }: { url: string }): Redis => {
    const client = new Redis(url, { tls: { ca: certificate.cert }, maxRetriesPerRequest: 0, commandTimeout: 20_000 });
    return client.on('error', () => {});
  };
  const ask = async (server: { url: string }, ...command: [string, ...string[]]): Promise<unknown> => {
    const client = connect(server);
    try {
      return await client.call(...command);
    } finally {
      client.disconnect();
    }
  };
  const startServer = async (name: string, replicaOf?: number) => {
    const replica = replicaOf === undefined ? {} : { replicaof: `${host} ${replicaOf}` };
    // after its first start the sentinels say what it is
    const again = (port?: number) => start(name, { secured, port, settings: { ...settings, ...own, ...replica } });
    return restartable(await again(), again);
  };
  try {
    const first = await startServer('server-0');
    const servers = [first, await startServer('server-1', first.port)];
    const watch = [
      `sentinel monitor ${master} ${host} ${first.port} ${quorum}`,
      `sentinel auth-pass ${master} ${secured.password}`,
      // milliseconds without an answer until a sentinel takes it for lost
      `sentinel down-after-milliseconds ${master} 1500`,
      `sentinel failover-timeout ${master} 5000`,
      `sentinel sentinel-pass ${securedSentinels.password}`,
    ];
    const sentinels = await Promise.all(
      Array.from({ length: watchers }, (_, index) =>
        start(`sentinel-${index}`, { secured: securedSentinels, sentinel: watch }),
      ),
    );
    const knows = async (sentinel: RunningRedis) => {
      const info = String(await ask(sentinel, 'INFO', 'sentinel'));
      return info.includes(`slaves=1,sentinels=${watchers}`) && info.includes('status=ok');
    };
    const areReady = async () => (await Promise.all(sentinels.map(knows))).every(Boolean);
    if (!(await waitUntil(areReady, { deadlineMs: 30_000 }))) throw new Error('the sentinels do not find each other');
    const nodes = sentinels.map(({ port }) => `${host}:${port}`);
    const url = `rediss://:${secured.password}@${host}`;
    const address: RedisAddress = {
      url,
      clusterNodes: [],
      sentinels: { nodes, master, password: securedSentinels.password },
      ca: certificate.cert,
    };
    /** for the API, the worker and the command line */
    const env = {
      REDIS_URL: url,
      REDIS_SENTINELS: nodes.join(),
      REDIS_SENTINEL_MASTER: master,
      REDIS_SENTINEL_PASSWORD: securedSentinels.password,
      NODE_EXTRA_CA_CERTS: certificate.certFile,
    };
    /** The server that most sentinels take for the master. */
    const findMaster = async () => {
      const named = await Promise.all(
        sentinels.map((sentinel) => ask(sentinel, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master)),
      );
      const ports = named.map((place) => (Array.isArray(place) ? Number(place[1]) : 0));
      return servers.find(({ port }) => ports.filter((each) => each === port).length >= quorum);
    };
    /** Whether the master has its replica, so that it may be replaced. */
    const hasReplica = async () => {
      const now = await findMaster();
      return now !== undefined && String(await ask(now, 'INFO', 'replication')).includes('state=online');
    };
    /**
     * A promotion of the replica in order: the master holds back writes, so that the replica has all that was answered.
     * Resolves once the other server is the master for most.
     */
    const promote = async () => {
      const before = await findMaster();
      const [sentinel] = sentinels;
      if (!before || !sentinel) throw new Error('the sentinels know no master');
      await ask(before, 'CLIENT', 'PAUSE', String(pause), 'WRITE');
      // not while the one before is under way
      const begin = () =>
        ask(sentinel, 'SENTINEL', 'FAILOVER', master).then(
          () => true,
          () => false,
        );
      if (!(await waitUntil(begin, { deadlineMs: 30_000, intervalMs: 200 }))) throw new Error('nothing is promoted');
      const isOther = async () => {
        const now = await findMaster();
        return now !== undefined && now !== before;
      };
      if (!(await waitUntil(isOther, { deadlineMs: 30_000 }))) throw new Error('nothing was promoted');
    };
    return { servers, sentinels, address, env, findMaster, hasReplica, promote, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
