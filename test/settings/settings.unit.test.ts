import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readApiConfig } from '../../apps/settings/api.ts';
import { readActor, readCliConfig } from '../../apps/settings/cli.ts';
import { settings } from '../../apps/settings/settings.ts';
import { readWorkerConfig } from '../../apps/settings/worker.ts';
import { refusal } from '../support/refusal.ts';

const needed = {
  DATABASE_URL: 'postgres://assent:database-password@db.example:5432/assent',
  REDIS_URL: 'redis://:redis-password@redis.example:6379',
  JWT_SECRET: 'thirty-two bytes of a secret 012',
};

const apiRefuses = (environment: Record<string, string>) => refusal(() => readApiConfig({ ...needed, ...environment }));

describe('with only what is needed', () => {
  it('the API has its defaults', () => {
    const { tokens, ...config } = readApiConfig(needed);
    // those that stand in the table of settings are compared with the documents
    expect(config).toMatchObject({
      databaseUrl: needed.DATABASE_URL,
      replica: undefined,
      databaseMode: { prepare: true, pooled: false },
      redis: { url: needed.REDIS_URL, clusterNodes: [] },
      opsPort: 3001,
      oidc: null,
      recordRatePerMinute: 600,
      displayRatePerMinute: 600,
      readRatePerMinute: 6_000,
      changeRatePerMinute: 120,
      quotas: { domains: 10_000, webhooks: 100, keys: 20 },
      failureRatePerMinute: 300,
      webhookReach: {
        allowPrivate: false,
        networks: [],
        names: [],
        stores: [
          { host: 'db.example', port: 5432 },
          { host: 'redis.example', port: 6379 },
        ],
      },
      ip: { mode: 'truncated', hashKey: undefined },
      keys: [],
      place: {
        countryHeader: undefined,
        regionHeader: undefined,
        regionCountries: new Set(),
        geoipFile: undefined,
      },
      tracing: undefined,
      basePath: '',
    });
    expect(tokens).toMatchObject({ algorithm: 'HS256', issuer: undefined, audience: undefined });
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

const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
const provider = { OIDC_ISSUER: 'https://id.example.com', OIDC_CLIENT_ID: 'dashboard' };

describe('what is given', () => {
  it.each([
    ['postgresql://db/assent', 'postgresql://db/assent'],
    ['postgres:///x?host=/run/pg', 'postgres://localhost/x?host=%2Frun%2Fpg'],
    ['postgres://localhost/x?host=%2Frun%2Fpg', 'postgres://localhost/x?host=%2Frun%2Fpg'],
    ['postgres://%2Frun%2Fpg/x', 'postgres://localhost/x?host=%2Frun%2Fpg'],
    ['postgres://%2frun%2fpg/x', 'postgres://localhost/x?host=%2Frun%2Fpg'],
    [
      'postgres://u:p%40@:5433/x?host=/run/pg&options=-c',
      'postgres://u:p%40@localhost:5433/x?options=-c&host=%2Frun%2Fpg',
    ],
    ['postgres:///x?host=db.example&port=5433&user=me&password=a%40b', 'postgres://me:a%40b@db.example:5433/x'],
  ])('of the address of Postgres %s is %s', (url, taken) => {
    expect(readApiConfig({ ...needed, DATABASE_URL: url }).databaseUrl).toBe(taken);
  });

  it.each<[Record<string, string>, object]>([
    [
      { DATABASE_READ_URL: 'postgres://r/x', DATABASE_READ_MAX_LAG: '30', DATABASE_PREPARE: 'false' },
      { replica: { url: 'postgres://r/x', maxLag: 30_000 }, databaseMode: { prepare: false, pooled: true } },
    ],
    [
      { REDIS_URL: 'rediss://redis:6380/2', QUEUE_SHARDS: '8', WEB_CONCURRENCY: '64', LOG_LEVEL: 'debug' },
      { redis: { url: 'rediss://redis:6380/2' }, queueShards: 8, webConcurrency: 64, logLevel: 'debug' },
    ],
    [
      {
        PORT: '0',
        HOST: '::',
        OPS_PORT: '9000',
        OPS_HOST: '0.0.0.0',
        TRUSTED_PROXY_HOPS: '2',
        COUNTRY_HEADER: 'CF-IPCountry',
        REGION_HEADER: 'CF-Region-Code',
        REGION_COUNTRIES: 'US, ca',
      },
      {
        port: 0,
        host: '::',
        opsPort: 9000,
        opsHost: '0.0.0.0',
        trustedProxyHops: 2,
        place: {
          countryHeader: 'cf-ipcountry',
          regionHeader: 'cf-region-code',
          regionCountries: new Set(['US', 'CA']),
        },
      },
    ],
    [
      { PUBLIC_URL: 'https://www.example.com/own/consent/' },
      { basePath: '/own/consent', publicUrl: 'https://www.example.com/own/consent' },
    ],
    [{ PUBLIC_URL: 'http://localhost:3000' }, { basePath: '', publicUrl: 'http://localhost:3000' }],
    [
      {
        WEBHOOK_ALLOW: '192.168.1.20, 10.0.0.0/8,fd12::/16,N8N',
        DATABASE_URL: 'postgres:///x?host=/run/pg',
        REDIS_CLUSTER_NODES: '[::1]:7000',
      },
      {
        webhookReach: {
          allowPrivate: false,
          networks: ['192.168.1.20/32', '10.0.0.0/8', 'fd12::/16'],
          names: ['n8n'],
          stores: [
            { host: 'redis.example', port: 6379 },
            { host: '::1', port: 7000 },
          ],
        },
      },
    ],
    // a key where nothing is hashed may be anything
    [
      { JWT_ISSUER: 'https://issuer', JWT_AUDIENCE: 'assent', IP_MODE: 'full', IP_HASH_KEY: 'k' },
      { tokens: { issuer: 'https://issuer', audience: 'assent' }, ip: { mode: 'full', hashKey: undefined } },
    ],
    // no limit for records is none for pages and reads, except those that are set; changes keep theirs
    [
      { RECORD_RATE_PER_MINUTE: '0' },
      {
        recordRatePerMinute: 0,
        displayRatePerMinute: 0,
        readRatePerMinute: 0,
        changeRatePerMinute: 120,
        failureRatePerMinute: 0,
      },
    ],
    [
      { RECORD_RATE_PER_MINUTE: '0', READ_RATE_PER_MINUTE: '7', DISPLAY_RATE_PER_MINUTE: '6' },
      { displayRatePerMinute: 6, readRatePerMinute: 7, failureRatePerMinute: 0 },
    ],
    [
      { RECORD_RATE_PER_MINUTE: '0', FAILURE_RATE_PER_MINUTE: '8', CHANGE_RATE_PER_MINUTE: '0' },
      { readRatePerMinute: 0, failureRatePerMinute: 8, changeRatePerMinute: 0 },
    ],
    // nothing is traced without a collector, and with one every request is
    [{ OTEL_TRACES_SAMPLER_ARG: '0.5' }, { tracing: undefined }],
    [collector, { tracing: { endpoint: 'http://collector:4318', headers: {}, ratio: 1 } }],
    [
      { ...collector, OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%2Cb, x-org = 7', OTEL_TRACES_SAMPLER_ARG: '0.01' },
      { tracing: { headers: { 'api-key': 'a,b', 'x-org': '7' }, ratio: 0.01 } },
    ],
    [
      provider,
      { oidc: { issuer: 'https://id.example.com', clientId: 'dashboard', scopes: ['openid'], audience: null } },
    ],
    [
      { ...provider, OIDC_SCOPES: 'openid  read', OIDC_AUDIENCE: 'assent' },
      { oidc: { scopes: ['openid', 'read'], audience: 'assent' } },
    ],
    [
      { REDIS_CLUSTER_NODES: 'a.example:7000,10.0.0.2:7001,[::1]:7002' },
      { redis: { clusterNodes: ['a.example:7000', '10.0.0.2:7001', '[::1]:7002'] } },
    ],
  ])('is taken: %j', (given, expected) => {
    expect(readApiConfig({ ...needed, ...given })).toMatchObject(expected);
  });

  it('of a key for addresses is that key', () => {
    const { ip } = readApiConfig({ ...needed, IP_MODE: 'hashed', IP_HASH_KEY: 'k'.repeat(32) });
    expect([ip.mode, ip.hashKey?.export().toString()]).toEqual(['hashed', 'k'.repeat(32)]);
  });

  it('of a cluster, or of sentinels with the name of the master, needs no REDIS_URL', () => {
    const { REDIS_URL: url, ...rest } = needed;
    expect(readWorkerConfig({ ...rest, REDIS_CLUSTER_NODES: 'a:7000' }).redis.clusterNodes).toEqual(['a:7000']);
    const given = { ...rest, REDIS_SENTINELS: 'a.example:26379,10.0.0.2:26379', REDIS_SENTINEL_MASTER: 'consent' };
    const sentinels = { nodes: ['a.example:26379', '10.0.0.2:26379'], master: 'consent', password: undefined };
    expect(readWorkerConfig(given).redis).toEqual({ url: 'redis://', clusterNodes: [], sentinels });
    const secured = readWorkerConfig({ ...given, REDIS_URL: url, REDIS_SENTINEL_PASSWORD: 'a password' });
    expect(secured.redis).toMatchObject({ url, sentinels: { password: 'a password' } });
    expect(readCliConfig({ REDIS_URL: 'redis://stack' }, given).connections().redis.url).toBe('redis://');
  });

  it('of an address of Postgres may say what TLS is wanted, by a file of whole certificates', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'assent-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = path.join(folder, 'ca.pem');
    const [one = '', another = ''] = rootCertificates;
    const withTls = (query: string) => ({ DATABASE_URL: `${needed.DATABASE_URL}?${query}` });
    const withFile = withTls(`sslmode=verify-full&sslrootcert=${file}`);
    writeFileSync(file, `two of them\n${one}\n${another}`);
    for (const mode of ['disable', 'require', 'verify-ca', 'verify-full'])
      readApiConfig({ ...needed, ...withTls(`sslmode=${mode}&channel_binding=require`) });
    expect(readApiConfig({ ...needed, ...withFile }).databaseUrl).toBe(withFile.DATABASE_URL);
    writeFileSync(file, `${one}\n${another.slice(0, 400)}`);
    expect(apiRefuses(withFile)).toContain(`is a file of certificates (PEM): ${file}: `);
    writeFileSync(file, 'none');
    expect(apiRefuses(withFile)).toContain(`${file} has none`);
    for (const read of [readWorkerConfig, (given: NodeJS.ProcessEnv) => readCliConfig({}, given).database()])
      expect(refusal(() => read({ ...needed, ...withTls('sslcert=a') }))).toContain('sslcert');
  });
});

describe('a bad value', () => {
  it('of a whole number is named with its bounds', () => {
    for (const value of ['65536', '-1', '1.5', 'ten', '1e3', ' 1', '0x1', '9'.repeat(30)])
      expect(apiRefuses({ PORT: value })).toBe(
        `PORT must be a whole number from 0 to 65535, not ${JSON.stringify(value)}`,
      );
    for (const value of ['0', '65535']) readApiConfig({ ...needed, PORT: value });
  });

  it.each([
    ['JWT_ALGORITHM', 'none', 'hs256', 'HS512', 'RS512'],
    ['IP_MODE', 'Full', 'truncate', 'true'],
    // in one line all the same
    ['LOG_LEVEL', 'verbose', 'INFO', 'info\nPORT=1'],
    ['DATABASE_PREPARE', '1', 'yes', 'TRUE'],
    ['COUNTRY_HEADER', 'x country', 'x:y', 'x'.repeat(65)],
    ['REGION_HEADER', 'x region', ''.padEnd(65, 'x')],
    ['REGION_COUNTRIES', 'USA', 'US;CA', 'US,', 'U', 'US CA', 'UK', 'EU', 'XX', 'QQ'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5', '-1', '.'],
    ['REDIS_CLUSTER_NODES', 'a', 'a:b', 'a:1,', 'a:1;b:2', 'a:1, b:2', '::1:1', '[::1]', '[::1:1', '[]:1', 'a:65536'],
    ['REDIS_SENTINELS', 'a', 'a:b', 'a:1,', 'a:1;b:2', 'a:1, b:2', '[::1]:99999', '[a]:1'],
  ])('of %s is named with what it may be: %j', (name, ...values) => {
    for (const value of values) {
      const line = apiRefuses({ [name]: value });
      expect(line.startsWith(`${name} must be `), line).toBe(true);
      expect(line.endsWith(`, not ${JSON.stringify(value)}`), line).toBe(true);
    }
  });

  it.each([
    [{ OIDC_ISSUER: provider.OIDC_ISSUER }, 'OIDC_CLIENT_ID must be set with OIDC_ISSUER'],
    [{ OIDC_CLIENT_ID: provider.OIDC_CLIENT_ID }, 'OIDC_ISSUER must be set with OIDC_CLIENT_ID'],
    [{ ...provider, OIDC_SCOPES: 'read' }, 'OIDC_SCOPES must be a list with openid in it'],
    [{ ...provider, OIDC_ISSUER: 'http://a.example' }, 'OIDC_ISSUER must be an address that begins with https://'],
    [
      { ...provider, OIDC_ISSUER: 'https://a.example/?a' },
      'OIDC_ISSUER must be an address without a query and a fragment',
    ],
    [{ REDIS_SENTINELS: 'a:1' }, 'REDIS_SENTINEL_MASTER must be set with REDIS_SENTINELS'],
    [{ REDIS_SENTINEL_MASTER: 'consent' }, 'REDIS_SENTINELS must be set with REDIS_SENTINEL_MASTER'],
    [
      { REDIS_SENTINELS: 'a:1', REDIS_SENTINEL_MASTER: 'consent', REDIS_CLUSTER_NODES: 'a:1' },
      'REDIS_SENTINELS must be unset where REDIS_CLUSTER_NODES is set',
    ],
    ...['http://www.example.com', 'https://a.example/?q', 'https://u@a.example', 'https://a.example/a b', 'a'].map(
      (url): [Record<string, string>, RegExp] => [
        { PUBLIC_URL: url },
        /^PUBLIC_URL must be an address that begins with/,
      ],
    ),
    [{ IP_MODE: 'hashed' }, 'IP_HASH_KEY must be set for IP_MODE hashed'],
    [
      { REGION_COUNTRIES: 'US', COUNTRY_HEADER: 'CF-IPCountry' },
      'REGION_COUNTRIES must be unset where neither REGION_HEADER nor GEOIP_FILE is set',
    ],
    [{ IP_MODE: 'hashed', IP_HASH_KEY: 'k'.repeat(31) }, /^IP_HASH_KEY must be at least 32 bytes$/],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /^OTEL_EXPORTER_OTLP_ENDPOINT must be an address that begins /],
  ])('that does not go with others is named: %j', (environment, told) => {
    expect(apiRefuses(environment)).toMatch(told);
  });

  const beginsWith = /^(DATABASE_URL|DATABASE_READ_URL|REDIS_URL|TIMESTAMP_URL) must be an address that begins with/;
  const isHeaders = /^OTEL_EXPORTER_OTLP_HEADERS must be headers: [^"]*$/;
  it.each<[string[], string[], RegExp]>([
    [
      ['DATABASE_URL', 'DATABASE_READ_URL', 'REDIS_URL', 'TIMESTAMP_URL'],
      ['s3cret', 'http://user:s3cret@host', 'user:s3cret@host:5432/x'],
      beginsWith,
    ],
    [['DATABASE_URL'], ['postgres://user:s3cret@a,b/x', 'postgres://user:s3cret@a:5432,b:5433/x'], / of one host$/],
    [
      ['DATABASE_URL', 'DATABASE_READ_URL'],
      ['postgres://user:s3cret@[::1]/x'],
      / whose host is a name or an IPv4 address$/,
    ],
    [['OTEL_EXPORTER_OTLP_HEADERS'], ['s3cret', 's3cret=%zz', 's3cret=b%0Ac'], isHeaders],
  ])('of a secret is never printed: %j, %j', (names, values, told) => {
    for (const name of names) {
      for (const value of values) {
        const line = apiRefuses({ [name]: value });
        expect(line).toMatch(told);
        expect(line).toMatch(new RegExp(`^${name} must be `));
        expect(line).not.toContain('s3cret');
      }
    }
  });

  it.each([
    ['sslmode=prefer', /^DATABASE_URL must be .* sslmode is one of disable, require, verify-/],
    ['sslmode=verify_full', / sslmode is one of /],
    ['sslmode=', / sslmode is one of /],
    ['sslrootcrt=/ca.pem', /^DATABASE_URL must be an address without sslrootcrt/],
    ['sslrootcert=/ca.pem', / sslmode=verify-full beside its sslrootcert/],
    ['host=other.example', /^DATABASE_URL must be an address whose host is before the database, or a folder/],
    [`host=/${'x'.repeat(100)}`, /^DATABASE_URL must be an address whose socket has a path of at most 107 bytes$/],
    ['host=/run/pg,/run/other', / a folder with the socket of Postgres/],
    ['DateStyle=German', /^DATABASE_URL must be an address without DateStyle, which every connection sets itself$/],
    ['sslmode=verify-full&sslrootcert=/nowhere/ca.pem', / sslrootcert is a file of certificates .*\/nowhere\/ca.pem/],
  ])('of an address of Postgres is named: %s', (query, told) => {
    expect(apiRefuses({ DATABASE_URL: `${needed.DATABASE_URL}?${query}` })).toMatch(told);
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
    expect(refusal(() => readCliConfig(stack, { REDIS_URL: needed.REDIS_URL }).database())).toMatch(/^DATABASE_URL/);
    expect(refusal(() => readCliConfig(stack, { JWT_SECRET: 'too short' }).signing())).toMatch(/^JWT_SECRET must be/);
  });

  it('names the system’s user, whatever the environment says, and where that has no name whoever is given', () => {
    const { username } = userInfo();
    for (const name of ['USER', 'LOGNAME', 'SUDO_USER'])
      expect(readCliConfig({}, { [name]: 'somebody else' }).actor).toBe(username);
    expect(readCliConfig({}, {}, username).actor).toBe(username);
    expect(() => readCliConfig({}, {}, 'somebody else').actor).toThrow(`this one is ${username}`);
    // as Node does for a number without a name
    const nameless = () => {
      throw new Error('uv_os_get_passwd');
    };
    expect(readActor('olga', nameless)).toBe('olga');
    for (const given of [undefined, ' ']) expect(() => readActor(given, nameless)).toThrow('--actor');
  });

  it('asks for each part only where a command needs it', () => {
    const config = readCliConfig({}, {});
    expect(refusal(() => config.database())).toMatch(/^DATABASE_URL must be set/);
    expect(refusal(() => config.signing())).toMatch(/^JWT_SECRET must be set/);
  });
});
