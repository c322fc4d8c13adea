/** The one table of settings: each is an environment variable. */
import { z } from 'zod';
import {
  address,
  claim,
  flag,
  headers,
  hexKey,
  keyId,
  logName,
  networksAndNames,
  nodes,
  oneOf,
  port,
  postgresAddress,
  publicAddress,
  ratio,
  rolePrefix,
  scopeWords,
  text,
  webAddress,
  wholeNumber,
  words,
} from '#libs/base/config/kinds';
import type { ValuesOf } from '#libs/base/config/read';
import { domainIdPattern } from '#libs/base/terms/terms';
import { parseCountry } from '#libs/place/codes';

type Process = 'api' | 'worker' | 'cli';

export interface Setting {
  schema: z.ZodType;
  default?: string;
  /** its purpose, in the table of docs/operations.md */
  about: string;
  /** the processes that use it; every process checks it */
  for: Process[];
  secret?: boolean;
}

const setting = <Schema extends z.ZodType, Rest extends Omit<Setting, 'schema'>>(schema: Schema, rest: Rest) => ({
  schema,
  ...rest,
});

const api: Process[] = ['api'];
const all: Process[] = ['api', 'worker', 'cli'];
const services: Process[] = ['api', 'worker'];
const signing: Process[] = ['api', 'cli'];

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/)
  .meta({ rule: 'the name of a header' });

const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
/** `UK` has a name, too, but its code is `GB`. */
const isCountry = (code: string): boolean =>
  names.of(code) !== undefined && new Intl.Locale(`und-${code}`).region === code;

const countries = z
  .string()
  .transform((value) => value.split(',').map((text) => parseCountry(text.trim())))
  .pipe(z.array(z.string().refine(isCountry)))
  .meta({ rule: 'two-letter codes of countries, separated by commas, such as US,CA' });

export const displayRate = 600;
export const defaultReadRate = 6_000;
export const currentRate = 600_000;
export const changeRate = 120;
export const failureRate = 300;

export const settings = {
  PORT: setting(port, { default: '3000', for: api, about: "the API's port" }),
  HOST: setting(text, { default: '0.0.0.0', for: api, about: 'the address that the API listens on' }),
  OPS_PORT: setting(port, { for: services, about: 'the operations port: 3001 for the API, 3002 for the worker' }),
  OPS_HOST: setting(text, {
    default: '127.0.0.1',
    for: services,
    about:
      "the address of the operations port; if it is a name that several machines share, the port opens on this machine's address and on loopback",
  }),
  PUBLIC_URL: setting(publicAddress, {
    for: signing,
    about:
      'where people reach the service: https, or http on loopback; with a path, if a reverse proxy has it under one, such as https://www.example.com/consent',
  }),
  DATABASE_URL: setting(postgresAddress, { for: all, secret: true, about: 'Postgres 15 or newer' }),
  DATABASE_API_URL: setting(postgresAddress, {
    for: ['cli'],
    secret: true,
    about:
      'the DATABASE_URL of the API, if it has a separate login: `migrate` creates that login with the rights it needs',
  }),
  DATABASE_WORKER_URL: setting(postgresAddress, {
    for: ['cli'],
    secret: true,
    about: 'the DATABASE_URL of the worker, if it has a separate login',
  }),
  DATABASE_ROLE_PREFIX: setting(rolePrefix, {
    default: 'assent',
    for: ['cli'],
    about: 'the prefix of the roles that `migrate` creates: a different one for each installation on a server',
  }),
  DATABASE_READ_URL: setting(postgresAddress, {
    for: api,
    secret: true,
    about: 'a replica for the log; default: DATABASE_URL',
  }),
  DATABASE_READ_MAX_LAG: setting(wholeNumber(1, 3_600), {
    default: '5',
    for: api,
    about: 'seconds that the replica may lag; beyond that, the log is read from DATABASE_URL',
  }),
  DATABASE_PREPARE: setting(flag, {
    default: 'true',
    for: all,
    about:
      'false behind a PgBouncer before 1.21, or with max_prepared_statements = 0: no named prepared statements; implies DATABASE_POOLER',
  }),
  DATABASE_POOLER: setting(flag, {
    default: 'false',
    for: all,
    about: 'true behind PgBouncer, or another pooler, in transaction mode',
  }),
  REDIS_URL: setting(address('redis', 'rediss'), { for: all, secret: true, about: 'Redis 6.2 or newer, or Valkey' }),
  REDIS_CLUSTER_NODES: setting(nodes, { for: all, about: 'nodes of a Redis Cluster, as host:port,host:port' }),
  REDIS_SENTINELS: setting(nodes, {
    for: all,
    about: 'sentinels that know which Redis is the master, as host:port,host:port; needs REDIS_SENTINEL_MASTER',
  }),
  REDIS_SENTINEL_MASTER: setting(text, { for: all, about: 'the name by which the sentinels know the master' }),
  REDIS_SENTINEL_PASSWORD: setting(text, { for: all, secret: true, about: "the sentinels' own password, if any" }),
  JWT_ALGORITHM: setting(oneOf('HS256', 'RS256', 'ES256'), {
    default: 'HS256',
    for: signing,
    about: 'the only algorithm that access tokens may use',
  }),
  JWT_SECRET: setting(text, { for: signing, secret: true, about: 'HS256: the secret, at least 32 bytes' }),
  JWT_SECRET_PREVIOUS: setting(text, {
    for: signing,
    secret: true,
    about: 'HS256: the previous secret, still accepted while keys rotate',
  }),
  JWT_PUBLIC_KEY: setting(text, { for: signing, about: 'RS256, ES256: the public key, PEM' }),
  JWT_PUBLIC_KEY_PREVIOUS: setting(text, {
    for: signing,
    about: 'RS256, ES256: the previous public key, still accepted while keys rotate',
  }),
  JWT_KEY_ID: setting(keyId, {
    for: signing,
    about: "the current key's `kid`; if set, a token may not name another one",
  }),
  JWT_KEY_ID_PREVIOUS: setting(keyId, { for: signing, about: "the previous key's `kid`" }),
  JWT_ISSUER: setting(text, { for: signing, about: 'if set, access tokens must have this `iss`' }),
  JWT_AUDIENCE: setting(text, { for: signing, about: 'if set, access tokens must have this `aud`' }),
  JWT_JWKS_URL: setting(webAddress, {
    for: api,
    about: 'RS256, ES256: the keys of an OpenID Connect provider; needs JWT_ISSUER and JWT_AUDIENCE',
  }),
  JWT_ORG_CLAIM: setting(claim, { default: 'org', for: signing, about: "the claim with the organization's id" }),
  JWT_SCOPE_CLAIM: setting(claim, { default: 'scope', for: signing, about: 'the claim with the scopes' }),
  JWT_DEFAULT_SCOPE: setting(scopeWords, {
    for: api,
    about:
      'the scopes of an access token without that claim, or none; default: read, or none where JWT_JWKS_URL is set',
  }),
  JWT_MAX_LIFETIME: setting(wholeNumber(1, 1_000_000), {
    for: signing,
    about: 'hours that an access token may be valid, from its `iat` to its `exp`; default: no limit',
  }),
  OIDC_ISSUER: setting(webAddress, {
    for: api,
    about: 'an OpenID Connect provider for sign-in to the dashboard; default: access tokens only',
  }),
  OIDC_CLIENT_ID: setting(text, { for: api, about: "the dashboard's client at OIDC_ISSUER: public, without a secret" }),
  OIDC_SCOPES: setting(words, {
    default: 'openid',
    for: api,
    about: 'the scopes that the dashboard requests from the provider',
  }),
  OIDC_AUDIENCE: setting(text, { for: api, about: 'the audience for which the dashboard requests access tokens' }),
  WEB_CONCURRENCY: setting(wholeNumber(1, 64), { default: '1', for: api, about: 'API processes behind one port' }),
  WORKER_CONCURRENCY: setting(wholeNumber(1, 1_000), {
    default: '200',
    for: ['worker'],
    about: 'jobs that a worker takes at once from each shard and stores together',
  }),
  QUEUE_SHARDS: setting(wholeNumber(1, 64), {
    default: '1',
    for: all,
    about: 'record queues; more than one spreads them over a Redis Cluster',
  }),
  RECORD_RATE_PER_MINUTE: setting(wholeNumber(0, 1_000_000), {
    default: '600',
    for: api,
    about: 'records per minute, client address and domain, in each API process; 0: no limit',
  }),
  DISPLAY_RATE_PER_MINUTE: setting(wholeNumber(0, 1_000_000), {
    for: api,
    about: `displays of the banner per minute, client address and domain, in each API process; 0: no limit; default: ${displayRate}, or 0 where RECORD_RATE_PER_MINUTE is 0`,
  }),
  READ_RATE_PER_MINUTE: setting(wholeNumber(0, 10_000_000), {
    for: api,
    about: `reads per minute and access token, in each API process; 0: no limit; default: ${defaultReadRate}, or 0 where RECORD_RATE_PER_MINUTE is 0`,
  }),
  CURRENT_RATE_PER_MINUTE: setting(wholeNumber(0, 100_000_000), {
    for: api,
    about: `visitors per minute and access token whose current decision is asked for, in each API process; 0: no limit; default: ${currentRate}, or 0 where RECORD_RATE_PER_MINUTE is 0`,
  }),
  CHANGE_RATE_PER_MINUTE: setting(wholeNumber(0, 1_000_000), {
    for: api,
    about: `changes of domains, keys and webhooks per minute and organization, in each API process, and as many revocations of keys and tokens; 0: no limit; default: ${changeRate}`,
  }),
  FAILURE_RATE_PER_MINUTE: setting(wholeNumber(0, 1_000_000), {
    for: api,
    about: `failed attempts with keys, with tokens, and to sign in, per minute and client address, in each API process; 0: no limit; default: ${failureRate}, or 0 where RECORD_RATE_PER_MINUTE is 0`,
  }),
  ORG_MAX_DOMAINS: setting(wholeNumber(1, 1_000_000), {
    default: '10000',
    for: api,
    about: 'domains that an organization may have, including archived ones',
  }),
  ORG_MAX_WEBHOOKS: setting(wholeNumber(1, 1_000_000), {
    default: '100',
    for: api,
    about: 'webhooks that an organization may have',
  }),
  DOMAIN_MAX_KEYS: setting(wholeNumber(1, 1_000_000), {
    default: '20',
    for: api,
    about: 'active keys that a domain may have',
  }),
  TRUSTED_PROXY_HOPS: setting(wholeNumber(0, 10), {
    default: '0',
    for: api,
    about: 'proxies in front that append to X-Forwarded-For',
  }),
  IP_MODE: setting(oneOf('truncated', 'hashed', 'full', 'none'), {
    default: 'truncated',
    for: ['api', 'cli'],
    about: 'how client addresses are stored: truncated (/24, /48), hashed, full or none',
  }),
  IP_HASH_KEY: setting(text, {
    for: ['api', 'cli'],
    secret: true,
    about: 'IP_MODE=hashed: the key, at least 32 bytes',
  }),
  IP_HASH_KEY_PREVIOUS: setting(text, {
    for: ['api', 'cli'],
    secret: true,
    about: 'the previous key, while the key changes',
  }),
  COUNTRY_HEADER: setting(headerName, {
    for: api,
    about: "a trusted proxy's header with the visitor's country",
  }),
  REGION_HEADER: setting(headerName, {
    for: api,
    about: "a trusted proxy's header with the visitor's region, such as CA or US-CA",
  }),
  REGION_COUNTRIES: setting(countries, {
    for: api,
    about:
      'countries whose regions are recorded and sent to the widget, such as US,CA; needs REGION_HEADER or a GEOIP_FILE with subdivisions',
  }),
  GEOIP_FILE: setting(text, {
    for: api,
    about: "a MaxMind DB file (.mmdb) with countries, used for what the headers leave open; read at the API's start",
  }),
  RECORD_RETENTION_MONTHS: setting(wholeNumber(0, 1_200), {
    default: '0',
    for: all,
    about: 'whole months that records are kept; 0: indefinitely',
  }),
  PERSONAL_RETENTION_MONTHS: setting(wholeNumber(0, 1_200), {
    default: '0',
    for: ['worker'],
    about: 'whole months after which records lose their personal fields; 0: kept as long as the record',
  }),
  PRIVACY_KEY: setting(hexKey, {
    for: all,
    secret: true,
    about: "the key of visitors' hashes, 64 hex digits; without it visitors' records are neither listed nor erased",
  }),
  PRIVACY_KEY_PREVIOUS: setting(hexKey, {
    for: all,
    secret: true,
    about: 'the previous key, while the key changes; `visitor erase --replay` also recognizes visitors by it',
  }),
  SECRETS_KEY: setting(hexKey, {
    for: all,
    secret: true,
    about:
      'encrypts the secrets of webhooks, 64 hex digits; without it there are no webhooks, accounts and site checks',
  }),
  SECRETS_KEY_PREVIOUS: setting(hexKey, {
    for: all,
    secret: true,
    about: "the previous key, also used to decrypt, and to sign people's tokens, while keys rotate",
  }),
  WEBHOOK_ALLOW_PRIVATE: setting(flag, {
    default: 'false',
    for: all,
    about: 'true also allows http and loopback addresses for webhooks, to try them out',
  }),
  WEBHOOK_ALLOW: setting(networksAndNames, {
    for: all,
    about:
      'private networks and host names at which receivers of webhooks are allowed, separated by commas, such as 192.168.1.0/24,n8n',
  }),
  BACKUP_DAYS: setting(wholeNumber(1, 3_650), {
    default: '35',
    for: ['worker', 'cli'],
    about: 'days that backups are kept; Redis remembers erasures for the same time',
  }),
  LOG_NAME: setting(logName, {
    for: ['worker', 'cli'],
    about: 'the name that sealed logs begin with, such as consent.example.com; needed with LOG_KEY',
  }),
  LOG_KEY: setting(hexKey, {
    for: ['worker'],
    secret: true,
    about: 'the key of the sealed logs, 64 hex digits; without it nothing is sealed',
  }),
  LOG_KEY_PREVIOUS: setting(hexKey, {
    for: ['worker'],
    secret: true,
    about: 'the previous key, which also signs while keys rotate',
  }),
  SEAL_SECONDS: setting(wholeNumber(0, 3_600), {
    default: '60',
    for: services,
    about: 'how often records are sealed; 0: never',
  }),
  TIMESTAMP_URL: setting(webAddress, {
    for: ['worker'],
    secret: true,
    about: 'a time-stamping authority (RFC 3161) that gets one request a day; default: no time-stamps',
  }),
  DEMO_DOMAIN: setting(z.string().regex(domainIdPattern).meta({ rule: 'the id of a domain' }), {
    for: api,
    about: 'serve a demo shop at /demo with the widget of this domain; default: no demo',
  }),
  DEMO_API_KEY: setting(
    z
      .string()
      .regex(/^ak_[\w-]+$/)
      .meta({ rule: 'an API key' }),
    { for: api, about: 'the API key on the demo page' },
  ),
  NODE_ENV: setting(z.string(), {
    for: signing,
    about: 'production, as in the image: secrets from examples are refused, as with any value but development and test',
  }),
  LOG_LEVEL: setting(oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'), {
    default: 'info',
    for: all,
    about: 'how much is logged',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting(webAddress, {
    for: services,
    about: 'an OpenTelemetry collector that accepts OTLP over HTTP, such as http://collector:4318; default: no tracing',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: setting(headers, {
    for: services,
    secret: true,
    about: 'headers for the collector, as name=value,name=value',
  }),
  OTEL_TRACES_SAMPLER_ARG: setting(ratio, {
    default: '1',
    for: api,
    about: 'the share of requests that are traced, from 0 to 1',
  }),
} satisfies Record<string, Setting>;

export type Values = ValuesOf<typeof settings>;
