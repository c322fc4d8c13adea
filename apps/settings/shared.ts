/** What several processes read. */
import { checkPostgresAddress } from '#libs/base/config/postgres-address';
import { refuse } from '#libs/base/config/read';
import type { Values } from './settings.ts';

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

/** Undefined: nothing is traced. */
export const readTracing = ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_HEADERS: headers = {},
  OTEL_TRACES_SAMPLER_ARG: ratio,
}: Values) => (endpoint === undefined ? undefined : { endpoint, headers, ratio });

/** How statements reach Postgres. */
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

export const readPrivacyKey = ({ PRIVACY_KEY: key }: Values) =>
  key === undefined ? undefined : Buffer.from(key, 'hex');

export const readPreviousPrivacyKey = ({ PRIVACY_KEY_PREVIOUS: key }: Values) =>
  key === undefined ? undefined : Buffer.from(key, 'hex');

/** 32 bytes; undefined: there are no webhooks. */
export const readSecretsKey = ({ SECRETS_KEY: key }: Values) =>
  key === undefined ? undefined : Buffer.from(key, 'hex');

/** The one before it, if any. */
export function readPreviousSecretsKey({ SECRETS_KEY: key, SECRETS_KEY_PREVIOUS: previous }: Values) {
  if (previous === undefined) return undefined;
  return key === undefined ? refuse('SECRETS_KEY', 'set beside SECRETS_KEY_PREVIOUS') : Buffer.from(previous, 'hex');
}
