/** The environment: the one table of settings, and the only reader of process.env. */
import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { domainIdPattern } from '#libs/contract/terms';

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,12}$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max)
    .meta({ rule: `a whole number from ${min} to ${max}` });

const oneOf = <const Values extends readonly [string, ...string[]]>(...values: Values) =>
  z.enum(values).meta({ rule: `one of ${values.join(', ')}` });

const address = (...protocols: string[]) =>
  z
    .string()
    .refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol.slice(0, -1)))
    .refine((text) => isDecodable(text))
    .meta({ rule: `an address that begins with ${protocols.map((name) => `${name}://`).join(' or ')}` });

/** A stray % in a password would stop the driver later, with a stack. */
const isDecodable = (address: string): boolean => {
  try {
    decodeURIComponent(address);
    return true;
  } catch {
    return false;
  }
};

const text = z.string().meta({ rule: 'text' });
const port = wholeNumber(0, 65_535);
const flag = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .meta({ rule: 'true or false' });
const nodes = z
  .string()
  .regex(/^[^\s,:]+:\d+(,[^\s,:]+:\d+)*$/)
  .transform((value) => value.split(','))
  .meta({ rule: 'host:port, separated by commas' });

const keyId = z
  .string()
  .regex(/^[\x21-\x7e]{1,128}$/)
  .meta({ rule: 'at most 128 printable characters without spaces' });

type Process = 'api' | 'worker' | 'cli';

interface Setting {
  schema: z.ZodType;
  default?: string;
  /** what it is for, in the README's table */
  about: string;
  /** processes that use it; every process checks it */
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

const readRate = 6_000;
const failureRate = 300;

export const settings = {
  PORT: setting(port, { default: '3000', for: api, about: "the API's port" }),
  HOST: setting(text, { default: '0.0.0.0', for: api, about: 'the address that the API listens on' }),
  OPS_PORT: setting(port, { for: services, about: 'the operations port: 3001 for the API, 3002 for the worker' }),
  OPS_HOST: setting(text, { default: '127.0.0.1', for: services, about: 'the address of the operations port' }),
  DATABASE_URL: setting(address('postgres', 'postgresql'), { for: all, secret: true, about: 'Postgres 15 or newer' }),
  DATABASE_READ_URL: setting(address('postgres', 'postgresql'), {
    for: api,
    secret: true,
    about: 'a replica for the log; default: DATABASE_URL',
  }),
  DATABASE_PREPARE: setting(flag, {
    default: 'true',
    for: all,
    about: 'false behind a pgbouncer before 1.21: no named prepared statements',
  }),
  REDIS_URL: setting(address('redis', 'rediss'), { for: all, secret: true, about: 'Redis 6.2 or newer, or Valkey' }),
  REDIS_CLUSTER_NODES: setting(nodes, { for: all, about: 'nodes of a Redis Cluster, as host:port,host:port' }),
  JWT_ALGORITHM: setting(oneOf('HS256', 'RS256', 'ES256'), {
    default: 'HS256',
    for: signing,
    about: 'the one algorithm that access tokens may use',
  }),
  JWT_SECRET: setting(text, { for: signing, secret: true, about: 'HS256: the secret, at least 32 bytes' }),
  JWT_SECRET_PREVIOUS: setting(text, { for: signing, secret: true, about: 'HS256: still accepted while keys rotate' }),
  JWT_PUBLIC_KEY: setting(text, { for: signing, about: 'RS256, ES256: the public key, PEM' }),
  JWT_PUBLIC_KEY_PREVIOUS: setting(text, { for: signing, about: 'RS256, ES256: still accepted while keys rotate' }),
  JWT_KEY_ID: setting(keyId, { for: signing, about: "the current key's `kid`; with it a token may name no other" }),
  JWT_KEY_ID_PREVIOUS: setting(keyId, { for: signing, about: "the previous key's `kid`" }),
  JWT_ISSUER: setting(text, { for: signing, about: 'required `iss` of access tokens, where set' }),
  JWT_AUDIENCE: setting(text, { for: signing, about: 'required `aud` of access tokens, where set' }),
  WEB_CONCURRENCY: setting(wholeNumber(1, 64), { default: '1', for: api, about: 'API processes behind one port' }),
  WORKER_CONCURRENCY: setting(wholeNumber(1, 1_000), {
    default: '50',
    for: ['worker'],
    about: 'jobs that a worker merges and stores at once; more while they are small and many wait',
  }),
  QUEUE_SHARDS: setting(wholeNumber(1, 64), {
    default: '1',
    for: all,
    about: 'record queues; more than one spreads them over a Redis Cluster',
  }),
  RECORD_RATE_PER_MINUTE: setting(wholeNumber(0, 1_000_000), {
    default: '600',
    for: api,
    about: 'records per minute, client address and domain; 0: no limit',
  }),
  READ_RATE_PER_MINUTE: setting(wholeNumber(0, 10_000_000), {
    for: api,
    about: `reads per minute and access token; 0: no limit; default: ${readRate}, or 0 where RECORD_RATE_PER_MINUTE is 0`,
  }),
  FAILURE_RATE_PER_MINUTE: setting(wholeNumber(0, 1_000_000), {
    for: api,
    about: `keys, and tokens, that may fail per minute and client address; 0: no limit; default: ${failureRate}, or 0 where RECORD_RATE_PER_MINUTE is 0`,
  }),
  TRUSTED_PROXY_HOPS: setting(wholeNumber(0, 10), {
    default: '0',
    for: api,
    about: 'proxies in front that append to X-Forwarded-For',
  }),
  IP_MODE: setting(oneOf('truncated', 'hashed', 'full', 'none'), {
    default: 'truncated',
    for: api,
    about: 'how client addresses are stored: truncated (/24, /48), hashed, full or none',
  }),
  IP_HASH_KEY: setting(text, { for: api, secret: true, about: 'IP_MODE=hashed: the key, at least 32 bytes' }),
  COUNTRY_HEADER: setting(
    z
      .string()
      .regex(/^[A-Za-z0-9-]{1,64}$/)
      .meta({ rule: 'the name of a header' }),
    {
      for: api,
      about: "a trusted proxy's header with the visitor's country",
    },
  ),
  RECORD_RETENTION_MONTHS: setting(wholeNumber(0, 1_200), {
    default: '0',
    for: ['worker'],
    about: 'whole months that records are kept; 0: for ever',
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
    about: 'production, as in the image: a secret that stands in examples is refused',
  }),
  LOG_LEVEL: setting(oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'), {
    default: 'info',
    for: all,
    about: 'how much is logged',
  }),
} satisfies Record<string, Setting>;

type Name = keyof typeof settings;
type Value<Key extends Name> = z.infer<(typeof settings)[Key]['schema']>;
type Defaulted = {
  [Key in Name]: (typeof settings)[Key] extends { default: string } ? Key : never;
}[Name];
type Values = { [Key in Defaulted]: Value<Key> } & { [Key in Exclude<Name, Defaulted>]: Value<Key> | undefined };

/** A setting that stops the process: one line that names it. */
export class BadSetting extends Error {}

function bad(name: string, rule: string): never {
  throw new BadSetting(`${name} must be ${rule}`);
}

/** Reads every setting; an empty variable counts as not set. */
function readSettings(environment: NodeJS.ProcessEnv): Values {
  const entries = Object.entries<Setting>(settings).map(([name, { schema, default: fallback, secret }]) => {
    const given = environment[name] || fallback;
    if (given === undefined) return [name, undefined];
    const result = schema.safeParse(given);
    if (result.success) return [name, result.data];
    const rule = String(schema.meta()?.rule ?? 'valid');
    return bad(name, secret ? rule : `${rule}, not ${JSON.stringify(given)}`);
  });
  return Object.fromEntries(entries) as Values;
}

const connections = (values: Values) => ({
  databaseUrl: values.DATABASE_URL ?? bad('DATABASE_URL', 'set: the address of Postgres'),
  databasePrepare: values.DATABASE_PREPARE,
  redis: {
    url: values.REDIS_URL ?? (values.REDIS_CLUSTER_NODES ? 'redis://' : bad('REDIS_URL', 'set: the address of Redis')),
    clusterNodes: values.REDIS_CLUSTER_NODES ?? [],
  },
  queueShards: values.QUEUE_SHARDS,
  logLevel: values.LOG_LEVEL,
});

const secretKey = (name: string, value: string): KeyObject =>
  Buffer.byteLength(value) < 32 ? bad(name, 'at least 32 bytes') : createSecretKey(value, 'utf8');

/** What stands in examples, or was typed to fill the length: anyone could sign with it. */
const isPlaceholder = (value: string): boolean =>
  /change.?me|place.?holder|your.?(jwt.?)?secret|replace.?(me|this)/i.test(value) || new Set(value).size < 8;

function tokenSecret(name: string, value: string, isProduction: boolean): KeyObject {
  const key = secretKey(name, value);
  return isProduction && isPlaceholder(value) ? bad(name, 'a secret of its own, made with: openssl rand -hex 32') : key;
}

function publicKey(name: string, value: string, algorithm: string): KeyObject {
  const kind = algorithm === 'RS256' ? 'rsa' : 'ec';
  let isTooShort = false;
  try {
    const key = createPublicKey(value.replaceAll('\\n', '\n'));
    const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
    if (key.asymmetricKeyType === kind && modulusLength > 0 && modulusLength < 2048) isTooShort = true;
    else if (key.asymmetricKeyType === kind && (kind === 'rsa' || namedCurve === 'prime256v1')) return key;
  } catch {
    // told below
  }
  if (isTooShort) return bad(name, 'an RSA key of at least 2048 bits');
  return bad(name, `a public ${kind === 'rsa' ? 'RSA' : 'P-256'} key in PEM for JWT_ALGORITHM ${algorithm}`);
}

function tokens(values: Values) {
  const algorithm = values.JWT_ALGORITHM;
  const names =
    algorithm === 'HS256'
      ? (['JWT_SECRET', 'JWT_SECRET_PREVIOUS'] as const)
      : (['JWT_PUBLIC_KEY', 'JWT_PUBLIC_KEY_PREVIOUS'] as const);
  const keysById = new Map<string, KeyObject>();
  const isProduction = values.NODE_ENV === 'production';
  const keys = names.flatMap((name) => {
    const value = values[name];
    if (!value) return [];
    const key = algorithm === 'HS256' ? tokenSecret(name, value, isProduction) : publicKey(name, value, algorithm);
    const id = name.endsWith('_PREVIOUS') ? values.JWT_KEY_ID_PREVIOUS : values.JWT_KEY_ID;
    if (id) keysById.set(id, key);
    return [key];
  });
  if (!values[names[0]]) bad(names[0], `set for JWT_ALGORITHM ${algorithm}`);
  if (values.JWT_KEY_ID && values.JWT_KEY_ID === values.JWT_KEY_ID_PREVIOUS)
    bad('JWT_KEY_ID_PREVIOUS', 'another than JWT_KEY_ID');
  return {
    algorithm,
    keys,
    /** all that a token's `kid` may name; empty: `kid` is not looked at */
    keysById,
    keyId: values.JWT_KEY_ID,
    issuer: values.JWT_ISSUER,
    audience: values.JWT_AUDIENCE,
  };
}

export type TokenConfig = ReturnType<typeof tokens>;

function demo({ DEMO_DOMAIN: domainId, DEMO_API_KEY: apiKey }: Values) {
  if (domainId === undefined) return undefined;
  return { domainId, apiKey: apiKey ?? bad('DEMO_API_KEY', 'set: the key of DEMO_DOMAIN') };
}

export function readApiConfig(environment: NodeJS.ProcessEnv = process.env) {
  const values = readSettings(environment);
  const ipHashKey =
    values.IP_MODE === 'hashed'
      ? secretKey('IP_HASH_KEY', values.IP_HASH_KEY ?? bad('IP_HASH_KEY', 'set for IP_MODE hashed'))
      : undefined;
  const isLimited = values.RECORD_RATE_PER_MINUTE > 0;
  return {
    ...connections(values),
    databaseReadUrl: values.DATABASE_READ_URL ?? values.DATABASE_URL ?? '',
    host: values.HOST,
    port: values.PORT,
    opsHost: values.OPS_HOST,
    opsPort: values.OPS_PORT ?? 3001,
    tokens: tokens(values),
    webConcurrency: values.WEB_CONCURRENCY,
    recordRatePerMinute: values.RECORD_RATE_PER_MINUTE,
    readRatePerMinute: values.READ_RATE_PER_MINUTE ?? (isLimited ? readRate : 0),
    failureRatePerMinute: values.FAILURE_RATE_PER_MINUTE ?? (isLimited ? failureRate : 0),
    trustedProxyHops: values.TRUSTED_PROXY_HOPS,
    ip: { mode: values.IP_MODE, hashKey: ipHashKey },
    countryHeader: values.COUNTRY_HEADER?.toLowerCase(),
    demo: demo(values),
  };
}

export type ApiConfig = ReturnType<typeof readApiConfig>;

export function readWorkerConfig(environment: NodeJS.ProcessEnv = process.env) {
  const values = readSettings(environment);
  return {
    ...connections(values),
    opsHost: values.OPS_HOST,
    opsPort: values.OPS_PORT ?? 3002,
    concurrency: values.WORKER_CONCURRENCY,
    retentionMonths: values.RECORD_RETENTION_MONTHS,
  };
}

export type WorkerConfig = ReturnType<typeof readWorkerConfig>;

/**
 * Each part on its own, since no command needs all of them. `stack`: the settings of a running `npm start`, which count
 * where the environment itself names no store; what it does name always wins.
 */
export function readCliConfig(stack: Record<string, string>, given: NodeJS.ProcessEnv = process.env) {
  const own = given.DATABASE_URL || given.REDIS_URL || given.REDIS_CLUSTER_NODES;
  const environment = own ? given : { ...stack, ...given };
  const values = readSettings(environment);
  return {
    connections: () => connections(values),
    database: () => ({
      url: values.DATABASE_URL ?? bad('DATABASE_URL', 'set: the address of Postgres'),
      prepare: values.DATABASE_PREPARE,
    }),
    /** Signing takes the secret itself; public keys only verify. */
    signing: () => ({ ...tokens(values) }),
    actor: environment.SUDO_USER || environment.USER || environment.LOGNAME || 'operator',
  };
}

export type CliConfig = ReturnType<typeof readCliConfig>;

/** Reads a process's configuration, or ends the process with one line that names the bad setting. */
export function readOrExit<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof BadSetting)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
