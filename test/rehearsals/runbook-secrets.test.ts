/** Every secret is rotated by docs/runbooks.md beside a trickle of records and reads, none of which is refused. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import jsonwebtoken from 'jsonwebtoken';
import postgres from 'postgres';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { migrate } from '#libs/base/db/migrate';
import { persist } from '#libs/record/persist/persist';
import { type RedisSentinels, startRedisSentinels } from '../../scripts/stack/redis-groups.ts';
import { runCommand } from '../../scripts/stack/tether.ts';
import { atEnd } from '../support/at-end.ts';
import { type Cli, createCli } from '../support/cli.ts';
import { request, tokenFor } from '../support/client.ts';
import { countStored } from '../support/counts.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { findPostgresClients } from '../support/postgres-clients.ts';
import { startReceiver } from '../support/receiver.ts';
import { recordAt } from '../support/records.ts';
import { type Rolling, startRolling } from '../support/rolling.ts';
import { openRunbook, type Runbook } from '../support/runbook.ts';
import { type Service, startWorkerProcess } from '../support/service.ts';
import { jwtSecret, privacyKey, secretsKey } from '../support/settings.ts';
import { sharedPostgresUrl } from '../support/shared.ts';
import { at, sealSettings } from '../support/stack.ts';
import { recordSteadily } from '../support/steady.ts';
import { connectDatabase, makeTenant, type Tenant, type TestDatabase } from '../support/stores.ts';
import { eraseVisitor, untilRedisKnowsErased } from '../support/tombstones.ts';
import { eventually } from '../support/wait.ts';

const clients = await findPostgresClients();
/** milliseconds between two records, and between two reads */
const trickle = { every: 60 };
const newKey = () => randomBytes(32).toString('hex');
const makePair = () =>
  generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
/** roles are of the whole server, which others use as well */
const [owner, other] = ['', '_2'].map((end) => `owner_${randomBytes(4).toString('hex')}${end}`) as [string, string];

const withUser = (url: string, username: string, password: string) => {
  const changed = new URL(url);
  [changed.username, changed.password] = [username, password];
  return changed.toString();
};

describe.skipIf(clients === undefined)('secrets are rotated (with the client programs of Postgres)', () => {
  let redis: RedisSentinels;
  let database: TestDatabase;
  let adminUrl: string;
  let tenant: Tenant;
  let env: Record<string, string>;
  let apis: Rolling;
  let worker: Service;
  let runbook: Runbook;
  let steady: ReturnType<typeof recordSteadily>;
  let token: string;
  const receiver = startReceiver();
  /** statuses of reads, other than 200 */
  const refused: number[] = [];
  let reads = 0;
  let endReading: () => Promise<void>;

  const domainId = () => at(tenant.domainIds, 0);
  const cli = (): Cli => createCli({ ...env, WEBHOOK_ALLOW_PRIVATE: 'true' });
  const site = (apiKey: string) => ({ client: apis.client, domainId: domainId(), apiKey });
  const restartWorker = async () => {
    const fresh = await startWorkerProcess(env);
    await worker.stop();
    worker = fresh;
  };
  /** the settings from now on, for all that is started */
  const set = (settings: Record<string, string>) => {
    env = { ...env, ...settings };
  };
  const expectGoesOn = async () => {
    const before = reads;
    await steady.until('queued', 10);
    await eventually(() => expect(reads).toBeGreaterThan(before + 4));
    expect(refused).toEqual([]);
  };

  beforeAll(async () => {
    const dataDir = mkdtempSync(path.join(inject('folder'), 'redis', 'rotated-'));
    [adminUrl, redis] = await Promise.all([
      createEmptyDatabase(sharedPostgresUrl()),
      startRedisSentinels({ dataDir, settings: {} }),
    ]);
    atEnd(() => redis.stop());
    const password = newKey();
    const sql = postgres(adminUrl.replace(/\?.*$/, ''), { max: 1 });
    await sql.unsafe(`create role ${owner} login replication password '${password}'`);
    await sql.unsafe(`alter database ${new URL(adminUrl).pathname.slice(1)} owner to ${owner}`);
    await sql.end();
    const databaseUrl = withUser(adminUrl, owner, password);
    await migrate(databaseUrl);
    database = connectDatabase(databaseUrl);
    tenant = await makeTenant(database.db);
    env = {
      DATABASE_URL: databaseUrl,
      ...redis.env,
      ...sealSettings,
      JWT_SECRET: jwtSecret,
      SECRETS_KEY: secretsKey,
      WEBHOOK_ALLOW_PRIVATE: 'true',
    };
    token = tokenFor(tenant.organizationId);
    [apis, worker, runbook] = await Promise.all([
      startRolling(tenant, env, 1),
      startWorkerProcess(env),
      openRunbook('## Rotate secrets'),
    ]);
    steady = recordSteadily([site(at(tenant.apiKeys, 0))], trickle);
    let isRunning = true;
    const reading = (async () => {
      while (isRunning) {
        const { status } = await apis.ask('/v1/organization', { headers: { authorization: `Bearer ${token}` } });
        if (status === 200) reads += 1;
        else refused.push(status);
        await sleep(trickle.every);
      }
    })();
    // a test that failed before is told of that
    reading.catch(() => {});
    endReading = () => {
      isRunning = false;
      return reading;
    };
  });

  it('an API key', async () => {
    const { apiKey } = await cli().json<{ apiKey: string }>('key', 'create', domainId());
    await steady.until('queued', 5);
    await steady.stop();
    steady = recordSteadily([site(apiKey)], trickle);
    await cli().run('key', 'revoke', domainId(), at(tenant.apiKeys, 0));
    await expectGoesOn();
  });

  it('the secret of access tokens', async () => {
    const secret = (await runbook.step('openssl rand', env)).trim().split('\n').at(-1) ?? '';
    set({ JWT_SECRET: secret, JWT_SECRET_PREVIOUS: jwtSecret });
    await apis.restart(env);
    await expectGoesOn();
    const issued = await runbook.step('token issue', env, { values: { 'org_…': tenant.organizationId } });
    token = /eyJ[\w.-]+/.exec(issued)?.[0] ?? '';
    await expectGoesOn();
    set({ JWT_SECRET_PREVIOUS: '' });
  });

  it('the public key of access tokens', async () => {
    const [old, fresh] = [makePair(), makePair()];
    const algorithm = { ...env, JWT_ALGORITHM: 'ES256' };
    const ofProvider = await startRolling(tenant, { ...algorithm, JWT_PUBLIC_KEY: old.publicKey }, 1);
    const restartBesideReads = async (settings: Record<string, string>, { privateKey }: typeof old) => {
      const claims = { sub: 'tester', org: tenant.organizationId };
      const signed = jsonwebtoken.sign(claims, privateKey, { algorithm: 'ES256', expiresIn: 600 });
      let isRunning = true;
      const restarted = ofProvider.restart({ ...algorithm, ...settings }).finally(() => {
        isRunning = false;
      });
      const statuses = new Set<number>();
      while (isRunning) {
        const headers = { authorization: `Bearer ${signed}` };
        statuses.add((await ofProvider.ask('/v1/organization', { headers })).status);
        await sleep(trickle.every);
      }
      await restarted;
      expect([...statuses]).toEqual([200]);
    };
    await restartBesideReads({ JWT_PUBLIC_KEY: fresh.publicKey, JWT_PUBLIC_KEY_PREVIOUS: old.publicKey }, old);
    await restartBesideReads({ JWT_PUBLIC_KEY: fresh.publicKey }, fresh);
  });

  it('the password of Postgres, and the secret of tokens from before', async () => {
    const password = newKey();
    const roles = { ...env, ADMIN_URL: adminUrl, OWNER: owner, OTHER: other, NEW_PASSWORD: password };
    await runbook.step('create role', roles);
    await runbook.step('rolreplication', roles);
    await runbook.step('login password', roles);
    set({ DATABASE_URL: withUser(adminUrl, other, password) });
    await Promise.all([apis.restart(env), restartWorker()]);
    await expectGoesOn();
    await database.db.close();
    const before = await runbook.step('pg_stat_activity', roles);
    expect(before).toMatch(new RegExp(`${other} +\\|`));
    await runbook.step('nologin', roles);
    await expectGoesOn();
    // as pg_basebackup and standbys connect
    const replication = withUser(adminUrl, other, password).replace(/\?.*$/, '?replication=true');
    const asked = await runCommand(path.join(clients ?? '', 'psql'), [replication, '--command=IDENTIFY_SYSTEM']);
    expect(asked.code, asked.output).toBe(0);
    // what it makes is the owner's, so that the roles may change places again
    database = connectDatabase(env.DATABASE_URL ?? '');
    await persist(database.db, [recordAt('2019-06-15T12:00:00Z', { domainId: domainId() })]);
    const [made] = await database.db.run(
      (sql) => sql`select tableowner as owner from pg_tables where tablename = 'records_2019_06'`,
    );
    expect(made).toEqual({ owner });
    const stale = await request(apis.next().baseUrl, '/v1/organization', {
      headers: { authorization: `Bearer ${tokenFor(tenant.organizationId)}` },
    });
    expect(stale.status).toBe(401);
  });

  it('the passwords of Redis and its sentinels', async () => {
    const [password, sentinelPassword] = [newKey(), newKey()];
    const addressesOf = (servers: { port: number }[]) =>
      servers.map(({ port }) => `rediss://127.0.0.1:${port}`).join(' ');
    const given = {
      ...env,
      TLS: `--cacert ${redis.env.NODE_EXTRA_CA_CERTS}`,
      REDIS_SERVERS: addressesOf(redis.servers),
      REDIS_SENTINEL_SERVERS: addressesOf(redis.sentinels),
      OLD_PASSWORD: new URL(redis.env.REDIS_URL).password,
      NEW_PASSWORD: password,
      OLD_SENTINEL_PASSWORD: redis.env.REDIS_SENTINEL_PASSWORD,
      NEW_SENTINEL_PASSWORD: sentinelPassword,
    };
    await runbook.step('masterauth', given);
    set({ REDIS_URL: `rediss://:${password}@127.0.0.1`, REDIS_SENTINEL_PASSWORD: sentinelPassword });
    await Promise.all([apis.restart(env), restartWorker()]);
    await expectGoesOn();
    await runbook.step('requirepass', given);
    await expectGoesOn();
    const late = createCli({ ...env, REDIS_URL: redis.env.REDIS_URL });
    expect(await late.error('queue', 'status')).toContain('Redis does not respond');
    for (const { dataDir } of redis.sentinels) {
      const file = readFileSync(path.join(dataDir, 'redis.conf'), 'utf8');
      expect(file).toContain(`auth-pass assent ${password}`);
      expect(file).toContain(`sentinel-pass ${sentinelPassword}`);
    }
  });

  it('the keys of logs and of webhooks', async () => {
    const { url, received } = await receiver;
    const { webhookId } = await cli().json<{ webhookId: string }>('webhook', 'create', tenant.organizationId, url);
    const expectDelivered = async () => {
      await cli().run('webhook', 'test', webhookId);
      await eventually(() => expect(received.splice(0).map(({ message }) => message.type)).toContain('webhook.test'));
    };
    await expectDelivered();
    const keys = { LOG_KEY: newKey(), SECRETS_KEY: newKey() };
    set({ ...keys, LOG_KEY_PREVIOUS: sealSettings.LOG_KEY, SECRETS_KEY_PREVIOUS: secretsKey });
    await restartWorker();
    await expectDelivered();
    const values = { 'dom_…': domainId() };
    await eventually(async () => {
      const [keys] = await database.db.run((sql) => sql`select count(*)::int as count from log_keys`);
      expect(keys).toEqual({ count: 2 });
    });
    expect((await runbook.step('log key', env, { values })).match(/\+[0-9a-f]{8}\+/g)).toHaveLength(2);
    await apis.restart(env);
    expect(await runbook.step('webhook reseal', env)).toMatch(/resealed +1\n/);
    set({ LOG_KEY_PREVIOUS: '', SECRETS_KEY_PREVIOUS: '' });
    await restartWorker();
    await expectDelivered();
    await expectGoesOn();
    expect(worker.events('webhook_secret')).toEqual([]);
    const wrong = createCli({ ...env, SECRETS_KEY: newKey() });
    await wrong.error('webhook', 'reseal');
  });

  it('a key that was lost is forgotten, and the next one noted', async () => {
    set({ SECRETS_KEY: newKey() });
    await createCli(env).error('webhook', 'reseal');
    const values = { PRIVACY_KEY: 'SECRETS_KEY' };
    expect(await runbook.step('key_fingerprints', env, { values })).toBe('DELETE 1\n');
    await restartWorker();
  });

  it('the privacy key: who was erased is found again with the old one', async () => {
    expect(await eraseVisitor(apis.next().baseUrl, tenant.organizationId, 'somebody', env.JWT_SECRET)).toBe(200);
    await untilRedisKnowsErased(database.db);
    set({ PRIVACY_KEY: newKey(), PRIVACY_KEY_PREVIOUS: privacyKey });
    await restartWorker();
    set({ PRIVACY_KEY_PREVIOUS: '' });
    await persist(database.db, [recordAt(Date.now(), { domainId: domainId(), visitorId: 'somebody' })]);
    const left = () => database.sql`select from records where visitor_id = 'somebody'`;
    expect(await cli().json('visitor', 'erase', '--replay')).toMatchObject({ tombstones: 1 });
    expect(await left()).toHaveLength(1);
    expect(await runbook.step('OLD_PRIVACY_KEY', { ...env, OLD_PRIVACY_KEY: privacyKey })).toMatch(/tombstones +1\n/);
    expect(await left()).toEqual([]);
  });

  it('and no record and no read was refused, and every record is stored', async () => {
    expect(runbook.left()).toEqual([]);
    const recorded = await steady.stop();
    await endReading();
    expect(refused).toEqual([]);
    const ids = recorded.map(({ id }) => id);
    await eventually(async () => expect(await countStored(database.db, ids)).toBe(ids.length));
  });
});
