/** Settings that several processes use. */
import { checkPostgresAddress } from '#libs/base/config/postgres-address';
import { refuse } from '#libs/base/config/read';
import type { AddressRule } from '#libs/base/http/client-address';
import type { Values } from './settings.ts';
import { secretKey } from './token-keys.ts';

/** What every process needs to reach Postgres and Redis. */
export const readConnections = (values: Values) => ({
  databaseUrl: readDatabaseUrl(values),
  databaseMode: readDatabaseMode(values),
  redis: readRedis(values),
  queueShards: values.QUEUE_SHARDS,
  logLevel: values.LOG_LEVEL,
});

export const readDatabaseUrl = ({ DATABASE_URL: url }: Values): string =>
  checkPostgresAddress('DATABASE_URL', url ?? refuse('DATABASE_URL', 'set: the address of Postgres'));

/** Where people reach the service, without a trailing slash; undefined if not set. */
export const readPublicUrl = ({ PUBLIC_URL: url }: Values): string | undefined => url?.href.replace(/\/$/, '');

/** The path of the service on its host: '' at the root, or a prefix such as `/consent`. */
export const readBasePath = ({ PUBLIC_URL: url }: Values): string => url?.pathname.replace(/\/$/, '') ?? '';

/** Undefined: no tracing. */
export const readTracing = ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_HEADERS: headers = {},
  OTEL_TRACES_SAMPLER_ARG: ratio,
}: Values) => (endpoint === undefined ? undefined : { endpoint, headers, ratio });

export const readDatabaseMode = ({ DATABASE_PREPARE: prepare, DATABASE_POOLER: pooler }: Values) => ({
  prepare,
  pooled: pooler || !prepare,
});

function readRedis(values: Values) {
  const { REDIS_URL: url, REDIS_CLUSTER_NODES: clusterNodes = [] } = values;
  const sentinels = readSentinels(values);
  if (sentinels && clusterNodes.length > 0) refuse('REDIS_SENTINELS', 'unset where REDIS_CLUSTER_NODES is set');
  const isFound = sentinels !== undefined || clusterNodes.length > 0;
  return {
    url: url ?? (isFound ? 'redis://' : refuse('REDIS_URL', 'set: the address of Redis')),
    clusterNodes,
    sentinels,
  };
}

function readSentinels({
  REDIS_SENTINELS: nodes,
  REDIS_SENTINEL_MASTER: master,
  REDIS_SENTINEL_PASSWORD: password,
}: Values) {
  if (nodes === undefined) {
    if (master !== undefined) refuse('REDIS_SENTINELS', 'set with REDIS_SENTINEL_MASTER');
    return undefined;
  }
  return { nodes, master: master ?? refuse('REDIS_SENTINEL_MASTER', 'set with REDIS_SENTINELS'), password };
}

/** How client addresses are stored. */
export const readAddressRule = ({ IP_MODE: mode, IP_HASH_KEY: key }: Values): AddressRule => ({
  mode,
  hashKey:
    mode === 'hashed' ? secretKey('IP_HASH_KEY', key ?? refuse('IP_HASH_KEY', 'set for IP_MODE hashed')) : undefined,
});

const fromHex = (key: string | undefined) => (key === undefined ? undefined : Buffer.from(key, 'hex'));

export const readPrivacyKey = (values: Values) => fromHex(values.PRIVACY_KEY);

export const readPreviousPrivacyKey = (values: Values) => fromHex(values.PRIVACY_KEY_PREVIOUS);

/** 32 bytes; undefined: there are no webhooks, accounts and site checks. */
export const readSecretsKey = (values: Values) => fromHex(values.SECRETS_KEY);

/** The previous key, if any. */
export function readPreviousSecretsKey({ SECRETS_KEY: key, SECRETS_KEY_PREVIOUS: previous }: Values) {
  if (previous === undefined) return undefined;
  return key === undefined ? refuse('SECRETS_KEY', 'set beside SECRETS_KEY_PREVIOUS') : Buffer.from(previous, 'hex');
}

/** Which addresses webhooks may have besides public ones, and the stores, which they may never reach. */
export function readWebhookReach(values: Values) {
  const { WEBHOOK_ALLOW_PRIVATE: allowPrivate, WEBHOOK_ALLOW: { networks, names } = { networks: [], names: [] } } =
    values;
  return { allowPrivate, networks, names, stores: readStores(values) };
}

/** Host and port of each store in the settings, except those on a socket. */
function readStores(values: Values): { host: string; port: number }[] {
  const addresses = [
    [values.DATABASE_URL, 5432],
    [values.DATABASE_READ_URL, 5432],
    [values.REDIS_URL, 6379],
    ...[...(values.REDIS_CLUSTER_NODES ?? []), ...(values.REDIS_SENTINELS ?? [])].map((node) => [
      `redis://${node}`,
      6379,
    ]),
  ] as const;
  return addresses.flatMap(([address, usual]) => {
    if (address === undefined || !URL.canParse(String(address))) return [];
    const { hostname, port, searchParams: query } = new URL(String(address));
    return query.has('host') ? [] : [{ host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || usual) }];
  });
}
