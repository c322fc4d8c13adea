/**
 * Connections to Redis, in two roles: a producer fails fast, because a request waits for it; a worker waits while Redis is
 * down, because its jobs can wait.
 */
import type { ConnectionOptions } from 'node:tls';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Log } from '../ops/process-log.ts';
import { watchOutcomes } from '../timers.ts';
import { followPromotions } from './promotions.ts';
import { followClusterRunIds, followRunId } from './run-ids.ts';

export type RedisClient = Redis | Cluster;

export interface RedisAddress {
  url: string;
  /** host:port of some nodes, an IPv6 address in brackets; then `url` only gives the credentials and whether TLS is used */
  clusterNodes: string[];
  /**
   * The sentinels to ask for the master. Then `url` only gives the credentials and whether TLS is used, also for the
   * sentinels.
   */
  sentinels?: { nodes: string[]; master: string; password?: string | undefined } | undefined;
  /** PEM: the certificates to trust; by default those that Node trusts */
  ca?: string | undefined;
}

export interface RedisConnection {
  client: RedisClient;
  /** The run_id of the server that holds `key`; undefined while not connected. A restart changes it. */
  runIdOf(key: string): string | undefined;
  close(): Promise<void>;
}

export type Role = 'producer' | 'worker';

type Options = Omit<RedisOptions, 'replyMapping'>;

const roles: Record<Role, Options> = {
  producer: {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 1_000,
    connectTimeout: 1_000,
    // replaces a connection that stopped responding without closing (a dead router, a frozen server)
    socketTimeout: 3_000,
    retryStrategy: (times) => Math.min(times * 50, 300),
  },
  worker: {
    maxRetriesPerRequest: null,
    connectTimeout: 5_000,
    // longer than a blocking read for the next job
    socketTimeout: 20_000,
    retryStrategy: (times) => Math.min(times * 100, 1_000),
  },
};

export function connectRedis(address: RedisAddress, role: Role, log: Pick<Log, 'warn'>): RedisConnection {
  const { url, clusterNodes, ca } = address;
  const tls: ConnectionOptions | undefined = url.startsWith('rediss:') ? { ...(ca && { ca }) } : undefined;
  const options: Options = {
    ...roles[role],
    ...(tls && { tls }),
    connectionName: `assent-${role}`,
    keepAlive: 10_000,
  };
  const client = clusterNodes.length > 0 ? connectCluster(address, options) : connectServer(address, options);
  const logError = ({ message, name }: Error, isNews: boolean) => {
    if (isNews) log.warn({ reason: message || name }, 'Redis connection error');
  };
  const outcomes = watchOutcomes(logError, Number.POSITIVE_INFINITY);
  client.on('error', outcomes.failed).on('ready', outcomes.succeeded);
  const runIdOf = client instanceof Cluster ? followClusterRunIds(client) : followRunId(client);
  return {
    client,
    runIdOf,
    close: async () => {
      client.disconnect();
    },
  };
}

function connectServer(address: RedisAddress, common: Options): Redis {
  const options: Options = {
    ...common,
    // the server is no longer the master; a new connection leads to the new one. `includes`, because before Redis 7 a
    // script's error does not begin with READONLY
    reconnectOnError: ({ message }) => message.includes('READONLY'),
  };
  if (!address.sentinels) return new Redis(address.url, options);
  const { nodes, master, password } = address.sentinels;
  const { tls } = options;
  const client = new Redis(address.url, {
    ...options,
    sentinels: nodes.map(parseNode),
    name: master,
    ...(password && { sentinelPassword: password }),
    ...(tls && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
    // a frozen sentinel accepts connections and does not respond
    sentinelCommandTimeout: 1_000,
  });
  const secured = { ...(password && { password }), ...(tls && { tls }) };
  const sentinels = nodes.map((node) => ({ ...parseNode(node), ...secured }));
  return client.on(
    'end',
    followPromotions(sentinels, master, () => reconnect(client)),
  );
}

/** While ioredis asks the sentinels, it would take a disconnect as final, so we disconnect only once it is ready. */
function reconnect(client: Redis): void {
  if (client.status === 'ready') client.disconnect(true);
  else if (client.listenerCount('ready', reconnectWhenReady) === 0) client.once('ready', reconnectWhenReady);
}

function reconnectWhenReady(this: Redis): void {
  this.disconnect(true);
}

function connectCluster({ url, clusterNodes }: RedisAddress, redisOptions: Options): Cluster {
  const { username, password } = new URL(url);
  const cluster = new Cluster(clusterNodes.map(parseNode), {
    enableOfflineQueue: redisOptions.enableOfflineQueue ?? true,
    clusterRetryStrategy: (times) => Math.min(times * 100, 1_000),
    // milliseconds; also finds new replicas, which no error reports
    slotsRefreshInterval: 5_000,
    // TLS compares the certificate with the given name, not with the address that it resolves to
    dnsLookup: (host, found) => found(null, host),
    redisOptions: {
      ...redisOptions,
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
    },
  });
  return settleConnects(cluster);
}

/**
 * While slots have no node, ioredis closes a cluster's connection and reconnects, but never settles the `connect()` that
 * began it. BullMQ awaits that `connect()`, on a duplicate connection, before it takes another job, so it would wait
 * forever.
 */
function settleConnects(cluster: Cluster): Cluster {
  const connect = cluster.connect.bind(cluster);
  const duplicate = cluster.duplicate.bind(cluster);
  cluster.connect = () =>
    new Promise((resolve, reject) => {
      const closed = () => reject(new Error('closed before it was ready'));
      cluster.once('close', closed);
      connect()
        .then(resolve, reject)
        .finally(() => cluster.off('close', closed));
    });
  cluster.duplicate = (...options) => settleConnects(duplicate(...options));
  return cluster;
}

function parseNode(node: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(node) ?? [];
  return { host, port: Number(port) };
}
