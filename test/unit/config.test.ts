import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { readApiConfig } from '#libs/config/api';
import { BadSetting } from '#libs/config/bad-setting';
import { readCliConfig } from '#libs/config/cli';
import { settings } from '#libs/config/settings';
import { readWorkerConfig } from '#libs/config/worker';

const secret = 'thirty-two bytes of a secret 012';
const needed = {
  DATABASE_URL: 'postgres://assent:database-password@db.example:5432/assent',
  REDIS_URL: 'redis://:redis-password@redis.example:6379',
  JWT_SECRET: secret,
};

/** The one line that stops the process. */
function refusal(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (!(error instanceof BadSetting)) throw error;
    expect(error.message).not.toMatch(/\n/);
    return error.message;
  }
  throw new Error('it was accepted');
}
const apiRefuses = (environment: Record<string, string>) => refusal(() => readApiConfig({ ...needed, ...environment }));

describe('with only what is needed', () => {
  it('the API has every default', () => {
    const { tokens, ...config } = readApiConfig(needed);
    expect(config).toEqual({
      databaseUrl: needed.DATABASE_URL,
      replica: undefined,
      databaseMode: { prepare: true, pooled: false },
      redis: { url: needed.REDIS_URL, clusterNodes: [] },
      queueShards: 1,
      logLevel: 'info',
      host: '0.0.0.0',
      port: 3000,
      opsHost: '127.0.0.1',
      opsPort: 3001,
      oidc: null,
      webConcurrency: 1,
      recordRatePerMinute: 600,
      displayRatePerMinute: 600,
      retentionMonths: 0,
      readRatePerMinute: 6_000,
      failureRatePerMinute: 300,
      trustedProxyHops: 0,
      sealSeconds: 60,
      webhookAllowPrivate: false,
      ip: { mode: 'truncated', hashKey: undefined },
      countryHeader: undefined,
      geoipFile: undefined,
      tracing: undefined,
    });
    expect(tokens).toMatchObject({ algorithm: 'HS256', issuer: undefined, audience: undefined });
  });

  it('nothing is traced, and with a collector every request is, by either process', () => {
    const endpoint = 'http://collector:4318';
    for (const read of [readApiConfig, readWorkerConfig]) {
      expect(read({ ...needed, OTEL_TRACES_SAMPLER_ARG: '0.5' }).tracing).toBeUndefined();
      const collector = { ...needed, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
      expect(read(collector).tracing).toEqual({ endpoint, headers: {}, ratio: 1 });
      const more = { OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%2Cb, x-org = 7', OTEL_TRACES_SAMPLER_ARG: '0.01' };
      const headers = { 'api-key': 'a,b', 'x-org': '7' };
      expect(read({ ...collector, ...more }).tracing).toEqual({ endpoint, headers, ratio: 0.01 });
    }
    for (const [change, told] of [
      [
        { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
        /^OTEL_EXPORTER_OTLP_ENDPOINT must be an address that begins /,
      ],
      [{ OTEL_EXPORTER_OTLP_HEADERS: 'secret' }, /^OTEL_EXPORTER_OTLP_HEADERS must be headers: [^"]*$/],
      [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz' }, /^OTEL_EXPORTER_OTLP_HEADERS must be headers: [^"]*$/],
      [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=b%0Ac' }, /^OTEL_EXPORTER_OTLP_HEADERS must be headers: [^"]*$/],
      [{ OTEL_TRACES_SAMPLER_ARG: '1.5' }, /^OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "1\.5"$/],
      [{ OTEL_TRACES_SAMPLER_ARG: '-1' }, /^OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1/],
      [{ OTEL_TRACES_SAMPLER_ARG: '.' }, /^OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1/],
    ] as const) {
      expect(apiRefuses(change)).toMatch(told);
    }
  });

  it('people sign in with a provider that is set whole', () => {
    const provider = { OIDC_ISSUER: 'https://id.example.com', OIDC_CLIENT_ID: 'dashboard' };
    expect(readApiConfig({ ...needed, ...provider }).oidc).toEqual({
      issuer: provider.OIDC_ISSUER,
      clientId: 'dashboard',
      scopes: ['openid'],
      audience: null,
    });
    const given = { OIDC_SCOPES: 'openid  read', OIDC_AUDIENCE: 'assent' };
    expect(readApiConfig({ ...needed, ...provider, ...given }).oidc).toMatchObject({
      scopes: ['openid', 'read'],
      audience: 'assent',
    });
    for (const [change, told] of [
      [{ OIDC_CLIENT_ID: '' }, 'OIDC_CLIENT_ID must be set with OIDC_ISSUER'],
      [{ OIDC_SCOPES: 'read' }, 'OIDC_SCOPES must be a list with openid in it'],
      [{ OIDC_ISSUER: 'http://id.example.com' }, 'OIDC_ISSUER must be an address that begins with https://'],
      [{ OIDC_ISSUER: 'https://id.example.com/?a' }, 'OIDC_ISSUER must be an address without a query and a fragment'],
    ] as const) {
      expect(apiRefuses({ ...provider, ...change })).toBe(told);
    }
  });

  it('the worker has every default, and needs no token keys', () => {
    const { JWT_SECRET: _, ...environment } = needed;
    expect(readWorkerConfig(environment)).toEqual({
      databaseUrl: needed.DATABASE_URL,
      databaseMode: { prepare: true, pooled: false },
      redis: { url: needed.REDIS_URL, clusterNodes: [] },
      queueShards: 1,
      logLevel: 'info',
      opsHost: '127.0.0.1',
      opsPort: 3002,
      concurrency: 200,
      personalRetentionMonths: 0,
      privacyKey: undefined,
      secretsKey: undefined,
      previousSecretsKey: undefined,
      webhookAllowPrivate: false,
      backupDays: 35,
      retentionMonths: 0,
    });
  });

  it('an empty variable counts as not set, for every one of them', () => {
    const empty = Object.fromEntries(Object.keys(settings).map((name) => [name, '']));
    const { tokens: _, ...config } = readApiConfig({ ...empty, ...needed });
    const { tokens: __, ...expected } = readApiConfig(needed);
    expect(config).toEqual(expected);
  });

  it.each(Object.keys(needed))('without %s the API does not start', (name) => {
    for (const value of [undefined, ''])
      expect(refusal(() => readApiConfig({ ...needed, [name]: value }))).toMatch(new RegExp(`^${name} must be set`));
  });
});

describe('a given value', () => {
  it('is taken', () => {
    const config = readApiConfig({
      ...needed,
      DATABASE_URL: 'postgresql://db/assent',
      DATABASE_READ_URL: 'postgres://replica/assent',
      DATABASE_READ_MAX_LAG: '30',
      DATABASE_PREPARE: 'false',
      REDIS_URL: 'rediss://redis:6380/2',
      QUEUE_SHARDS: '8',
      PORT: '0',
      OPS_PORT: '9000',
      HOST: '::',
      OPS_HOST: '0.0.0.0',
      WEB_CONCURRENCY: '64',
      RECORD_RATE_PER_MINUTE: '0',
      TRUSTED_PROXY_HOPS: '2',
      IP_MODE: 'hashed',
      IP_HASH_KEY: 'k'.repeat(32),
      COUNTRY_HEADER: 'CF-IPCountry',
      LOG_LEVEL: 'debug',
      JWT_ISSUER: 'https://issuer',
      JWT_AUDIENCE: 'assent',
    });
    expect(config).toMatchObject({
      databaseUrl: 'postgresql://db/assent',
      replica: { url: 'postgres://replica/assent', maxLag: 30_000 },
      databaseMode: { prepare: false, pooled: true },
      redis: { url: 'rediss://redis:6380/2' },
      queueShards: 8,
      port: 0,
      opsPort: 9000,
      host: '::',
      opsHost: '0.0.0.0',
      webConcurrency: 64,
      recordRatePerMinute: 0,
      trustedProxyHops: 2,
      countryHeader: 'cf-ipcountry',
      logLevel: 'debug',
      tokens: { issuer: 'https://issuer', audience: 'assent' },
    });
    expect(config.ip.mode).toBe('hashed');
    expect(config.ip.hashKey?.export().toString()).toBe('k'.repeat(32));
  });

  it('of an address of Postgres may say what TLS is wanted, by a file that is there', () => {
    const file = new URL('../../package.json', import.meta.url).pathname;
    const refused = (query: string, name = 'DATABASE_URL') => apiRefuses({ [name]: `${needed.DATABASE_URL}?${query}` });
    for (const mode of ['disable', 'require', 'verify-ca', 'verify-full']) {
      const url = `${needed.DATABASE_URL}?sslmode=${mode}&channel_binding=require`;
      expect(readApiConfig({ ...needed, DATABASE_URL: url }).databaseUrl).toBe(url);
    }
    for (const mode of ['prefer', 'allow', 'verify_full', ''])
      expect(refused(`sslmode=${mode}`)).toMatch(
        /^DATABASE_URL must be .* sslmode is one of disable, require, verify-/,
      );
    expect(refused('sslrootcrt=/ca.pem')).toMatch(/^DATABASE_URL must be an address without sslrootcrt/);
    expect(refused('sslrootcert=/ca.pem')).toMatch(
      /^DATABASE_URL must be .* sslmode=verify-full beside its sslrootcert/,
    );
    for (const name of ['DATABASE_URL', 'DATABASE_READ_URL'])
      expect(refused('sslmode=verify-full&sslrootcert=/nowhere/ca.pem', name)).toMatch(
        new RegExp(`^${name} must be .* sslrootcert is a file of certificates .*/nowhere/ca.pem`),
      );
    expect(refused(`sslmode=verify-ca&sslrootcert=${file}`)).toContain(`${file} has none`);
    for (const read of [readWorkerConfig, (given: NodeJS.ProcessEnv) => readCliConfig({}, given).database()])
      expect(refusal(() => read({ ...needed, DATABASE_URL: 'postgres://db/assent?sslcert=a' }))).toContain('sslcert');
  });

  it('of its CAs is a file of whole certificates', () => {
    const [one = '', another = ''] = rootCertificates;
    const folder = mkdtempSync(path.join(tmpdir(), 'assent-'));
    const file = path.join(folder, 'ca.pem');
    const DATABASE_URL = `${needed.DATABASE_URL}?sslmode=verify-full&sslrootcert=${file}`;
    try {
      writeFileSync(file, `two of them\n${one}\n${another}`);
      expect(readApiConfig({ ...needed, DATABASE_URL }).databaseUrl).toBe(DATABASE_URL);
      writeFileSync(file, `${one}\n${another.slice(0, 400)}`);
      expect(apiRefuses({ DATABASE_URL })).toContain(`is a file of certificates (PEM): ${file}: `);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('of no limit for records is one for none at all, except those that are set', () => {
    const off = { ...needed, RECORD_RATE_PER_MINUTE: '0' };
    const none = { displayRatePerMinute: 0, readRatePerMinute: 0, failureRatePerMinute: 0 };
    expect(readApiConfig(off)).toMatchObject(none);
    const some = { ...off, DISPLAY_RATE_PER_MINUTE: '6', READ_RATE_PER_MINUTE: '7', FAILURE_RATE_PER_MINUTE: '8' };
    const set = { displayRatePerMinute: 6, readRatePerMinute: 7, failureRatePerMinute: 8 };
    expect(readApiConfig(some)).toMatchObject(set);
  });

  it('of a cluster needs no REDIS_URL', () => {
    const { REDIS_URL: _, ...rest } = needed;
    const { redis } = readWorkerConfig({ ...rest, REDIS_CLUSTER_NODES: 'a.example:7000,10.0.0.2:7001,[::1]:7002' });
    expect(redis.clusterNodes).toEqual(['a.example:7000', '10.0.0.2:7001', '[::1]:7002']);
  });

  it('of sentinels needs no REDIS_URL, but the name of the master', () => {
    const { REDIS_URL: _, ...rest } = needed;
    const given = { ...rest, REDIS_SENTINELS: 'a.example:26379,10.0.0.2:26379', REDIS_SENTINEL_MASTER: 'consent' };
    const sentinels = { nodes: ['a.example:26379', '10.0.0.2:26379'], master: 'consent', password: undefined };
    expect(readWorkerConfig(given).redis).toEqual({ url: 'redis://', clusterNodes: [], sentinels });
    const secured = readWorkerConfig({ ...given, ...needed, REDIS_SENTINEL_PASSWORD: 'a password' });
    expect(secured.redis).toMatchObject({ url: needed.REDIS_URL, sentinels: { password: 'a password' } });
    expect(readCliConfig({ REDIS_URL: 'redis://stack' }, given).connections().redis.url).toBe('redis://');
    const nameless = { REDIS_SENTINELS: 'a:1' };
    expect(apiRefuses(nameless)).toBe('REDIS_SENTINEL_MASTER must be set with REDIS_SENTINELS');
    expect(apiRefuses({ REDIS_SENTINEL_MASTER: 'consent' })).toBe(
      'REDIS_SENTINELS must be set with REDIS_SENTINEL_MASTER',
    );
    expect(apiRefuses({ ...given, REDIS_CLUSTER_NODES: 'a:1' })).toBe(
      'REDIS_SENTINELS must be unset where REDIS_CLUSTER_NODES is set',
    );
  });
});

describe('a bad value', () => {
  const numbers: Record<string, [number, number]> = {
    PORT: [0, 65_535],
    OPS_PORT: [0, 65_535],
    WEB_CONCURRENCY: [1, 64],
    WORKER_CONCURRENCY: [1, 1_000],
    QUEUE_SHARDS: [1, 64],
    RECORD_RATE_PER_MINUTE: [0, 1_000_000],
    DISPLAY_RATE_PER_MINUTE: [0, 1_000_000],
    READ_RATE_PER_MINUTE: [0, 10_000_000],
    FAILURE_RATE_PER_MINUTE: [0, 1_000_000],
    TRUSTED_PROXY_HOPS: [0, 10],
    RECORD_RETENTION_MONTHS: [0, 1_200],
  };
  it.each(Object.entries(numbers))('of %s is named with its bounds %j', (name, [min, max]) => {
    for (const value of [
      String(max + 1),
      ...(min > 0 ? [String(min - 1)] : []),
      '-1',
      '1.5',
      'ten',
      '1e3',
      ' 1',
      '0x1',
      '9'.repeat(30),
    ])
      expect(apiRefuses({ [name]: value })).toBe(
        `${name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(value)}`,
      );
    for (const value of [min, max]) readApiConfig({ ...needed, [name]: String(value) });
  });

  it.each([
    ['JWT_ALGORITHM', ['none', 'hs256', 'HS512', 'RS512']],
    ['IP_MODE', ['Full', 'truncate', 'true']],
    ['LOG_LEVEL', ['verbose', 'INFO']],
    ['DATABASE_PREPARE', ['1', 'yes', 'TRUE']],
    ['COUNTRY_HEADER', ['x country', 'x:y', 'x'.repeat(65)]],
    [
      'REDIS_CLUSTER_NODES',
      ['a', 'a:b', 'a:1,', 'a:1;b:2', 'a:1, b:2', '::1:1', '[::1]', '[::1:1', '[a]:1', '[]:1', 'a:65536'],
    ],
    ['REDIS_SENTINELS', ['a', 'a:b', 'a:1,', 'a:1;b:2', 'a:1, b:2', '[::1]:99999']],
  ])('of %s is named with what it may be: %j', (name, values) => {
    for (const value of values) {
      const line = apiRefuses({ [name]: value });
      expect(line.startsWith(`${name} must be `), line).toBe(true);
      expect(line.endsWith(`, not ${JSON.stringify(value)}`), line).toBe(true);
    }
  });

  it.each(['DATABASE_URL', 'DATABASE_READ_URL', 'REDIS_URL', 'TIMESTAMP_URL'])(
    'of %s is named, and its password is not printed',
    (name) => {
      for (const value of ['s3cret-password', 'http://user:s3cret-password@host', 'user:s3cret-password@host:5432/x']) {
        const line = apiRefuses({ [name]: value });
        expect(line).toMatch(new RegExp(`^${name} must be an address that begins with`));
        expect(line).not.toContain('s3cret');
      }
    },
  );

  it('of several hosts is refused', () => {
    for (const hosts of ['a,b', 'a:5432,b:5433'])
      expect(apiRefuses({ DATABASE_URL: `postgres://user:s3cret@${hosts}/x` })).toMatch(
        /^DATABASE_URL .* of one host$/,
      );
  });

  it.each(['DATABASE_URL', 'DATABASE_READ_URL'])('of %s is an IPv6 address, which the driver does not take', (name) => {
    expect(apiRefuses({ [name]: 'postgres://user:s3cret@[::1]:5432/x' })).toBe(
      `${name} must be an address whose host is a name or an IPv4 address`,
    );
  });

  it('with a line break is still told in one line', () => {
    expect(apiRefuses({ LOG_LEVEL: 'info\nPORT=1' })).toContain('"info\\nPORT=1"');
  });

  it('of a secret is never printed, whichever it is', () => {
    const short = 's3cret';
    for (const [environment, name] of [
      [{ JWT_SECRET: short }, 'JWT_SECRET'],
      [{ JWT_SECRET_PREVIOUS: short }, 'JWT_SECRET_PREVIOUS'],
      [{ IP_MODE: 'hashed', IP_HASH_KEY: short }, 'IP_HASH_KEY'],
      [{ JWT_ALGORITHM: 'RS256', JWT_PUBLIC_KEY: short }, 'JWT_PUBLIC_KEY'],
    ] as const) {
      const line = apiRefuses({ ...environment });
      expect(line.startsWith(`${name} must be`), line).toBe(true);
      expect(line).not.toContain(short);
    }
  });

  it('of IP_HASH_KEY is one that is missing or short, only where addresses are hashed', () => {
    expect(apiRefuses({ IP_MODE: 'hashed' })).toMatch(/^IP_HASH_KEY must be set/);
    expect(apiRefuses({ IP_MODE: 'hashed', IP_HASH_KEY: 'k'.repeat(31) })).toBe(
      'IP_HASH_KEY must be at least 32 bytes',
    );
    expect(readApiConfig({ ...needed, IP_MODE: 'full', IP_HASH_KEY: 'k' }).ip.hashKey).toBeUndefined();
  });
});

describe('the command line', () => {
  const stack = { DATABASE_URL: 'postgres://stack/x', REDIS_URL: 'redis://stack', JWT_SECRET: 'qrstuvwx'.repeat(4) };

  it('takes the running stack unless the environment names a database', () => {
    expect(readCliConfig(stack, {}).database().url).toBe('postgres://stack/x');
    expect(readCliConfig(stack, { DATABASE_URL: needed.DATABASE_URL }).database().url).toBe(needed.DATABASE_URL);
    expect(refusal(() => readCliConfig(stack, { DATABASE_URL: needed.DATABASE_URL }).connections())).toMatch(
      /^REDIS_URL/,
    );
  });

  it('asks for each part only where a command needs it', () => {
    const config = readCliConfig({}, { USER: 'olga' });
    expect(config.actor).toBe('olga');
    expect(refusal(() => config.database())).toMatch(/^DATABASE_URL must be set/);
    expect(refusal(() => config.signing())).toMatch(/^JWT_SECRET must be set/);
  });

  it('names the person behind sudo', () => {
    expect(readCliConfig({}, { USER: 'root', SUDO_USER: 'igor' }).actor).toBe('igor');
  });
});
