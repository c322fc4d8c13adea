/** A private Redis Cluster: each master with one replica, with TLS and a password. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { Redis } from 'ioredis';
import type { RedisAddress } from '#libs/runtime/redis';
import { makeCertificate } from './certificate.ts';
import { freePort } from './ports.ts';
import { type RunningRedis, type Secured, startRedis } from './redis.ts';
import { restartable } from './restartable.ts';
import type { ServerOptions } from './server.ts';
import { waitUntil } from './wait.ts';

export type RedisCluster = Awaited<ReturnType<typeof startRedisCluster>>;

const masters = 3;
const slots = 16_384;

/** The certificate has a name alone, so the nodes have to be known by it. */
const host = 'localhost';

const settings = {
  'cluster-enabled': 'yes',
  'tls-cluster': 'yes',
  'cluster-announce-hostname': host,
  'cluster-preferred-endpoint-type': 'hostname',
  // milliseconds without an answer until a master counts as lost
  'cluster-node-timeout': '2000',
  'cluster-replica-validity-factor': '0',
  'repl-diskless-sync-delay': '0',
};

export async function startRedisCluster({ dataDir, settings: own = {}, signal }: Omit<ServerOptions, 'port' | 'say'>) {
  const certificate = await makeCertificate(dataDir, host);
  const secured: Secured = { certificate, password: randomBytes(24).toString('hex') };
  const started: RunningRedis[] = [];
  const stop = async () => {
    for (const node of started) node.kill();
    await Promise.all(started.map(({ exited }) => exited));
  };
  const startNode = async (index: number) => {
    const ports = { 'cluster-port': String(await freePort()) };
    const start = async (port?: number) => {
      const folder = path.join(dataDir, String(index));
      const node = await startRedis({
        dataDir: folder,
        settings: { ...settings, ...own, ...ports },
        port,
        secured,
        signal,
      });
      started.push(node);
      return node;
    };
    return { ...restartable(await start(), start), busPort: ports['cluster-port'] };
  };
  try {
    const starting = Array.from({ length: masters * 2 }, (_, index) => startNode(index));
    // a failure waits for the others, which have to be stopped then
    await Promise.allSettled(starting);
    const nodes = await Promise.all(starting);
    /** To one node; one that does not answer is told at once. */
    const connect = ({ url }: { url: string }): Redis => {
      const client = new Redis(url, { tls: { ca: certificate.cert }, maxRetriesPerRequest: 0, commandTimeout: 20_000 });
      return client.on('error', () => {});
    };
    const clients = nodes.map(connect);
    try {
      await join(nodes, clients);
    } finally {
      for (const client of clients) client.disconnect();
    }
    const clusterNodes = nodes.map(({ port }) => `${host}:${port}`);
    const url = `rediss://:${secured.password}@${host}`;
    const address: RedisAddress = { url, clusterNodes, ca: certificate.cert };
    /** for the API, the worker and the command line */
    const env = {
      REDIS_URL: url,
      REDIS_CLUSTER_NODES: clusterNodes.join(),
      NODE_EXTRA_CA_CERTS: certificate.certFile,
    };
    return { nodes, password: secured.password, address, env, connect, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Meeting {
  port: number;
  busPort: string;
}

/** As `redis-cli --cluster create` does: the first half become masters, and each of the others a replica of one. */
async function join(nodes: Meeting[], clients: Redis[]): Promise<void> {
  const [first] = clients;
  if (!first) return;
  const each = (work: (client: Redis, index: number) => Promise<unknown>) => Promise.all(clients.map(work));
  const until = async (isTrue: (client: Redis) => Promise<boolean>, what: string) => {
    const isEverywhere = async () => (await Promise.all(clients.map(isTrue))).every(Boolean);
    if (!(await waitUntil(isEverywhere, { deadlineMs: 30_000 }))) throw new Error(`the cluster: ${what}`);
  };
  await each(async (client, index) => {
    await client.cluster('SET-CONFIG-EPOCH', index + 1);
    const from = Math.floor((slots * index) / masters);
    const to = Math.floor((slots * (index + 1)) / masters) - 1;
    if (index < masters) await client.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String(to));
  });
  for (const { port, busPort } of nodes.slice(1)) {
    await first.call('CLUSTER', 'MEET', '127.0.0.1', String(port), busPort);
  }
  const linesOf = async (client: Redis) =>
    String(await client.call('CLUSTER', 'NODES'))
      .trim()
      .split('\n');
  const isKnown = (line: string) => /^\w+ 127\.0\.0\.1:/.test(line) && !line.includes('handshake');
  await until(async (client) => (await linesOf(client)).filter(isKnown).length === nodes.length, 'the nodes meet');
  const ids = await Promise.all(clients.map(async (client) => String(await client.call('CLUSTER', 'MYID'))));
  await each(async (client, index) => {
    if (index >= masters) await client.call('CLUSTER', 'REPLICATE', ids[index - masters] ?? '');
  });
  await until(async (client) => {
    const state = String(await client.call('CLUSTER', 'INFO'));
    const replicas = (await linesOf(client)).filter((line) => line.includes('slave')).length;
    const link = /^master_link_status:(\w+)/m.exec(await client.info('replication'))?.[1] ?? 'up';
    return state.includes('cluster_state:ok') && replicas === masters && link === 'up';
  }, 'the nodes agree');
}
