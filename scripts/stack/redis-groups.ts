/** A private Redis with one replica and three sentinels that promote it, all with TLS and passwords. */
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { RedisAddress } from '#libs/base/redis/connection';
import { freePort } from './ports.ts';
import { startAll } from './private-stores.ts';
import { createGroup, type GroupOptions, type Secured } from './redis.ts';
import { succeeds, untilTrue } from './wait.ts';

export type RedisSentinels = Awaited<ReturnType<typeof startRedisSentinels>>;

/** the sentinels' name for it */
const master = 'assent';
const host = '127.0.0.1';
const watchers = 3;
const quorum = 2;
/** Milliseconds: longer than the sentinels take to promote the replica and report it. */
const pause = 5_000;

const settings = { 'repl-diskless-sync-delay': '0' };

export const startRedisSentinels = (options: GroupOptions) =>
  startAll(async (onStop) => {
    const { certificate, startOne, startAgainable, ask } = await createGroup(options, host, onStop);
    const withPassword = (): Secured => ({ certificate, password: randomBytes(24).toString('hex') });
    const [secured, securedSentinels] = [withPassword(), withPassword()];
    // after its first start the sentinels decide its role
    const startServer = (name: string, more: Record<string, string> = {}) =>
      startAgainable(name, { secured, settings: { ...settings, ...options.settings, ...more } });
    const first = await startServer('server-0');
    const servers = [first, await startServer('server-1', { replicaof: `${host} ${first.port}` })];
    const sentinel = [
      `sentinel monitor ${master} ${host} ${first.port} ${quorum}`,
      `sentinel auth-pass ${master} ${secured.password}`,
      // milliseconds without a response until a sentinel considers it down
      `sentinel down-after-milliseconds ${master} 1500`,
      `sentinel failover-timeout ${master} 5000`,
      `sentinel sentinel-pass ${securedSentinels.password}`,
    ];
    const sentinels = await Promise.all(
      Array.from({ length: watchers }, (_, index) =>
        startOne(`sentinel-${index}`, { secured: securedSentinels, sentinel }),
      ),
    );
    const askEach = (...command: [string, ...string[]]) => Promise.all(sentinels.map((each) => ask(each, ...command)));
    await untilTrue(async () => {
      const infos = (await askEach('INFO', 'sentinel')).map(String);
      return infos.every((info) => info.includes('status=ok') && info.includes(`slaves=1,sentinels=${watchers}`));
    }, 'the sentinels find each other');
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
    /** The server that most sentinels consider the master. */
    const findMaster = async () => {
      const named = await askEach('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master);
      const ports = named.map((place) => (Array.isArray(place) ? Number(place[1]) : 0));
      return servers.find(({ port }) => ports.filter((each) => each === port).length >= quorum);
    };
    /** Whether the master has its replica, so that it can be replaced. */
    const hasReplica = async () => {
      const now = await findMaster();
      return now !== undefined && String(await ask(now, 'INFO', 'replication')).includes('state=online');
    };
    /** Promotes the replica without losing writes: the master holds them back. Resolves once most sentinels agree. */
    const promote = async () => {
      const before = await findMaster();
      const [one] = sentinels;
      if (!before || !one) throw new Error('the sentinels know no master');
      await ask(before, 'CLIENT', 'PAUSE', String(pause), 'WRITE');
      // refused while the previous one is in progress
      await untilTrue(() => succeeds(ask(one, 'SENTINEL', 'FAILOVER', master)), 'a sentinel begins to promote');
      await untilTrue(async () => {
        const now = await findMaster();
        return now !== undefined && now !== before;
      }, 'most sentinels agree on another master');
    };
    return { servers, sentinels, address, env, findMaster, hasReplica, promote };
  });

export type RedisCluster = Awaited<ReturnType<typeof startRedisCluster>>;

const masters = 3;
const slots = 16_384;

/** The certificate only has a name, so the nodes must be known by it. */
const clusterHost = 'localhost';

const clusterSettings = {
  'cluster-enabled': 'yes',
  'tls-cluster': 'yes',
  'cluster-announce-hostname': clusterHost,
  'cluster-preferred-endpoint-type': 'hostname',
  // milliseconds without a response until a master counts as failed
  'cluster-node-timeout': '2000',
  'cluster-replica-validity-factor': '0',
  'repl-diskless-sync-delay': '0',
};

export const startRedisCluster = (options: GroupOptions) =>
  startAll(async (onStop) => {
    const { certificate, startAgainable, connect, ask } = await createGroup(options, clusterHost, onStop);
    const password = randomBytes(24).toString('hex');
    const startNode = async (index: number) => {
      const busPort = String(await freePort());
      const all = { ...clusterSettings, ...options.settings, 'cluster-port': busPort };
      const secured = { certificate, password };
      return { ...(await startAgainable(String(index), { secured, settings: all })), busPort };
    };
    const starting = Array.from({ length: masters * 2 }, (_, index) => startNode(index));
    // after a failure the others must have started before they can be stopped
    await Promise.allSettled(starting);
    const nodes = await Promise.all(starting);
    const clients = nodes.map(connect);
    await join(nodes, clients).finally(() => {
      for (const client of clients) client.disconnect();
    });
    const clusterNodes = nodes.map(({ port }) => `${clusterHost}:${port}`);
    const url = `rediss://:${password}@${clusterHost}`;
    const address: RedisAddress = { url, clusterNodes, ca: certificate.cert };
    /** for the API, the worker and the command line */
    const env = { REDIS_URL: url, REDIS_CLUSTER_NODES: clusterNodes.join(), NODE_EXTRA_CA_CERTS: certificate.certFile };
    return { nodes, password, address, env, connect, ask };
  });

interface Meeting {
  port: number;
  busPort: string;
}

/** As `redis-cli --cluster create`: the first half become masters, each of the others a replica of one. */
async function join(nodes: Meeting[], clients: Redis[]): Promise<void> {
  const command = async (client: Redis | undefined, ...words: string[]) =>
    String(await client?.call('CLUSTER', ...words));
  const everywhere = (isTrue: (client: Redis, index: number) => Promise<boolean>, what: string) =>
    untilTrue(async () => (await Promise.all(clients.map(isTrue))).every(Boolean), `the cluster: ${what}`);
  for (const [index, client] of clients.entries()) {
    await command(client, 'SET-CONFIG-EPOCH', String(index + 1));
    const [from = 0, to = 0] = [index, index + 1].map((part) => Math.floor((slots * part) / masters));
    if (index < masters) await command(client, 'ADDSLOTSRANGE', String(from), String(to - 1));
  }
  for (const { port, busPort } of nodes.slice(1)) await command(clients[0], 'MEET', '127.0.0.1', String(port), busPort);
  const ids = await Promise.all(clients.map((client) => command(client, 'MYID')));
  // refused until both have met
  const replicate = (client: Redis, index: number) =>
    succeeds(command(client, 'REPLICATE', ids[index - masters] ?? ''));
  await everywhere(async (client, index) => index < masters || replicate(client, index), 'the nodes meet');
  await everywhere(async (client) => {
    const [state, known] = [await command(client, 'INFO'), await command(client, 'NODES')];
    const link = /^master_link_status:(\w+)/m.exec(await client.info('replication'))?.[1] ?? 'up';
    return state.includes('cluster_state:ok') && known.match(/slave/g)?.length === masters && link === 'up';
  }, 'the nodes agree');
}

/** The nodes' view of each other, from the first reachable node. */
export async function listMasters(cluster: RedisCluster) {
  for (const each of cluster.nodes) {
    const lines = await cluster.ask(each, 'CLUSTER', 'NODES').catch(() => undefined);
    if (typeof lines !== 'string') continue;
    return lines.split('\n').flatMap((line) => {
      // `0-5460`, `7`
      const [id = '', address = '', flags = '', , , , , , ...ranges] = line.split(' ');
      const node = cluster.nodes.find(({ port }) => address.includes(`:${port}@`));
      return node && flags.includes('master') && !/fail(,|$)/.test(flags) ? [{ id, node, ranges }] : [];
    });
  }
  throw new Error('no node of the cluster answers');
}

/** The node that has the slot. */
export async function ownerOf(cluster: RedisCluster, slot: number) {
  const owner = (await listMasters(cluster)).find(({ ranges }) =>
    ranges.some((range) => {
      const [from = 0, to = from] = range.split('-').map(Number);
      return from <= slot && slot <= to;
    }),
  );
  if (!owner) throw new Error(`no master has the slot ${slot}`);
  return owner;
}
