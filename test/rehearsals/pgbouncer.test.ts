/**
 * Everything through PgBouncer in transaction mode, with fewer server connections than the processes ask for, and with TLS
 * to it and from it to Postgres. The same Postgres is also reached with TLS straight.
 */
import path from 'node:path';
import { Queue } from 'bullmq';
import postgres from 'postgres';
import { describe, expect, inject, it } from 'vitest';
import { readAddress } from '#libs/base/db/address';
import { createDatabase } from '#libs/base/db/database';
import { isUnavailable } from '#libs/base/db/errors';
import { migrate } from '#libs/base/db/migrate';
import { throughPooler } from '#libs/base/db/pooled';
import { addDays, dayOf } from '#libs/base/terms/calendar';
import type { Erasure } from '#libs/privacy/contract';
import type { FullRecord } from '#libs/record/contract';
import { dropMonth, listMonths, makeMonth } from '#libs/record/month-partitions';
import { queuePrefix, recordQueue } from '#libs/record/queue';
import { startPgBouncer } from '../../scripts/stack/pgbouncer.ts';
import { atEnd } from '../support/at-end.ts';
import { openCertificate } from '../support/certificate.ts';
import { createCli } from '../support/cli.ts';
import { createClient, request, tokenFor } from '../support/client.ts';
import { countStored } from '../support/counts.ts';
import { blocksIn, sectionOf } from '../support/documents.ts';
import { createLogReader } from '../support/log-reader.ts';
import { openOwnPostgres } from '../support/outage.ts';
import { openPool } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { runCli } from '../support/run-cli.ts';
import { startApiProcess, startWorkerProcess } from '../support/service.ts';
import { at, sealSettings } from '../support/stack.ts';
import { makeTenant, openRedis, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const serverConnections = 4;
const today = dayOf(Date.now());
const visitorId = 'a visitor behind a pooler';

/** Places, and the port, are the test's own. */
const ownPlaces = /^(listen_addr|listen_port|auth_file|(client|server)_tls_\w+_file)$/;

/** The section `[pgbouncer]` that the documents show. */
function documented(): Record<string, string> {
  const page = 'docs/operations.md';
  const [ini] = blocksIn(page, sectionOf(page, '### PgBouncer'));
  const lines = ini?.text.split('[pgbouncer]')[1]?.matchAll(/^(\w+) = (.+)$/gm) ?? [];
  const settings = Object.fromEntries(Array.from(lines, ([, name = '', value = '']) => [name, value]));
  expect(settings).toMatchObject({
    listen_port: '6432',
    client_tls_sslmode: 'require',
    server_tls_sslmode: 'verify-full',
  });
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !ownPlaces.test(name)));
}

const open = (statementTimeout: number) =>
  openPool(url, { max: 6, statementTimeout, deadline: 20_000, prepare: false, pooled: true });

const redis = openRedisServer();
const [certificate, other] = await Promise.all([openCertificate('127.0.0.1'), openCertificate('127.0.0.1')]);
const server = await openOwnPostgres({ migrated: false, certificate });
const bouncer = await startPgBouncer({
  dataDir: path.join(inject('folder'), 'pgbouncer'),
  databaseUrl: server.url,
  certificate,
  settings: { ...documented(), default_pool_size: String(serverConnections) },
});
atEnd(bouncer.stop);
const url = bouncer.url;
await Promise.all([migrate(url), migrate(url)]);
const tenant = await makeTenant(open(10_000), { consentLog: true });
const env = { DATABASE_URL: url, DATABASE_PREPARE: 'false', REDIS_URL: (await redis).url };
const [api] = await Promise.all([startApiProcess(env), startWorkerProcess({ ...env, ...sealSettings })]);
const client = createClient(api.baseUrl, tenant);

describe('through PgBouncer in transaction mode', () => {
  const openPlain = (to: string, max: number) => {
    const { url: address, ssl } = readAddress(to);
    const sql = postgres(address, { ssl, max, prepare: false, fetch_types: false, onnotice: () => {} });
    atEnd(() => sql.end({ timeout: 1 }));
    return sql;
  };

  const domainId = () => at(tenant.domainIds, 0);
  const record = () =>
    client.record(domainId(), at(tenant.apiKeys, 0), {
      decision: 'accept_all',
      visitorId,
      pageUrl: 'https://a.example/',
    });

  it('two migrations at once leave one schema and no lock', async () => {
    expect(await migrate(url)).not.toContain('built');
    const [lock] = await openPlain(
      server.url,
      1,
    )`select pg_try_advisory_xact_lock(hashtext('assent.migrate')) as "isFree"`;
    expect(lock).toEqual({ isFree: true });
  });

  /** Straight to Postgres. */
  const secured = (query: Record<string, string>, hostname = '127.0.0.1') => {
    const address = new URL(server.url);
    address.hostname = hostname;
    address.search = String(new URLSearchParams(query));
    return address.toString();
  };
  const isEncrypted = (to: string) => {
    const timeouts = { statementTimeout: 10_000, deadline: 20_000 };
    const db = createDatabase({ url: to, max: 1, prepare: true, name: 'test', ...timeouts });
    return db
      .run((sql) => sql<{ ssl: boolean }[]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`)
      .then(([row]) => row?.ssl)
      .finally(db.close);
  };

  it('with TLS the certificate is checked as libpq checks it', async () => {
    const [own, wrong] = [certificate.certFile, other.certFile];
    const taken: [Record<string, string>, string?][] = [
      [{ sslmode: 'verify-full', sslrootcert: own }],
      [{ sslmode: 'verify-ca', sslrootcert: own }, 'localhost'],
      [{ sslmode: 'require', sslrootcert: own }, 'localhost'],
      [{ sslmode: 'require' }],
    ];
    const refused: typeof taken = [
      [{ sslmode: 'verify-full', sslrootcert: own }, 'localhost'],
      [{ sslmode: 'verify-full', sslrootcert: wrong }],
      [{ sslmode: 'verify-ca', sslrootcert: wrong }],
      [{ sslmode: 'require', sslrootcert: wrong }],
      [{ sslmode: 'verify-full' }],
    ];
    expect(await isEncrypted(secured({}))).toBe(false);
    for (const [query, hostname] of taken) {
      const address = secured(query, hostname);
      expect([query, await isEncrypted(address)]).toEqual([query, true]);
      expect(await migrate(address)).not.toContain('built');
    }
    for (const [query, hostname] of refused) {
      const error = await isEncrypted(secured(query, hostname)).catch((thrown: unknown) => thrown);
      expect([query, isUnavailable(error)]).toEqual([query, true]);
    }
  });

  it('another certificate is refused in one line, by the command line and by migrations', async () => {
    const pooled = new URL(url);
    pooled.searchParams.set('sslrootcert', other.certFile);
    const straight = secured({ sslmode: 'verify-full', sslrootcert: other.certFile });
    for (const [address, ...command] of [
      [straight, 'plan', 'list'],
      [straight, 'migrate'],
      [pooled.toString(), 'migrate'],
    ] as const)
      expect(await createCli({ DATABASE_URL: address, DATABASE_POOLER: 'true' }).error(...command)).toMatch(
        /certificate.* that sslmode and sslrootcert of the address allow$/,
      );
  });

  it('what Node trusts is trusted, also by migrations', async () => {
    const env = { DATABASE_URL: secured({ sslmode: 'verify-full' }), NODE_EXTRA_CA_CERTS: certificate.certFile };
    expect(await runCli(env, 'migrate')).toMatchObject({ code: 0, stderr: '' });
  });

  it('records are stored, counted, listed, exported, sealed and erased', async () => {
    const receipts = await Promise.all(Array.from({ length: 40 }, record));
    expect(receipts.map(({ status }) => status)).toEqual(receipts.map(() => 202));
    const ids = receipts.map(({ body }) => body.id).toSorted();

    const page = await eventually(async () => {
      const { body } = await client.records(domainId(), 'limit=200');
      expect(body.total).toBe(ids.length);
      return body;
    });
    expect(page.records.map(({ id }) => id).toSorted()).toEqual(ids);
    const { body: ofVisitor } = await client.records(domainId(), `visitorId=${encodeURIComponent(visitorId)}`);
    expect(ofVisitor.total).toBe(ids.length);
    await eventually(async () => {
      const { body } = await client.stats(domainId(), `from=${today}&to=${addDays(today, 1)}`);
      expect(body).toMatchObject({ total: ids.length, breakdown: { accept_all: ids.length } });
    });

    const { body } = await client.get<string>(`/v1/consent/${domainId()}/export`);
    expect(body.trimEnd().split('\n')).toHaveLength(ids.length + 1);
    const log = createLogReader(api.baseUrl, tenant.organizationId, domainId());
    await eventually(async () => expect((await log.checkpoint()).size).toBe(ids.length));

    const authorization = `Bearer ${tokenFor(tenant.organizationId, { scope: 'privacy' })}`;
    const erased = await request<Erasure>(
      api.baseUrl,
      `/v1/consent/${domainId()}/visitors/${encodeURIComponent(visitorId)}`,
      { method: 'DELETE', headers: { authorization } },
    );
    expect(erased.body).toMatchObject({ state: 'done', records: ids.length });
    expect((await client.get<FullRecord>(`/v1/consent/${domainId()}/records/${ids[0]}`)).body).toMatchObject({
      decision: 'accept_all',
      visitorId: null,
    });
  });

  it('what is not set is named', async () => {
    const limits = { max: 1, statementTimeout: 5_000, deadline: 10_000, prepare: false, name: 'test' };
    const plain = url.replace(/\?.*$/, '');
    for (const [message, given] of [
      ['unsupported startup parameter: statement_timeout', { url }],
      ['SSL required', { url: plain, pooled: true }],
      ['no such database: nowhere', { url: url.replace(/\/assent\?/, '/nowhere?'), pooled: true }],
      ['SASL authentication failed', { url: url.replace(/:[^:@]+@/, ':wrong@'), pooled: true }],
    ] as const) {
      const db = createDatabase({ ...limits, ...given });
      await expect(db.run((sql) => sql`select 1`)).rejects.toThrow(message);
      await db.close();
    }
  });

  it('the command line works', async () => {
    const cli = createCli({ ...env, LOG_NAME: sealSettings.LOG_NAME });
    const { organizations } = await cli.json<{ organizations: unknown[] }>('org', 'list');
    expect(organizations).toHaveLength(1);
    expect((await cli.run('counters', 'check')).code).toBe(0);
    expect((await cli.run('log', 'check')).code).toBe(0);
  });

  it('a statement that runs too long is ended, also one of the API', async () => {
    await expect(open(200).run((sql) => sql`select pg_sleep(20)`)).rejects.toMatchObject({ code: '57014' });
    const direct = openPlain(server.url, 2);
    await direct.begin(async (holder) => {
      await holder`lock table domains in access exclusive mode`;
      const waiting = () => direct`
        select from pg_stat_activity where application_name = 'assent-api' and wait_event_type = 'Lock'`;
      const response = client.records(domainId());
      await eventually(async () => expect((await waiting()).length).toBeGreaterThan(0));
      expect((await response).status).toBe(503);
    });
    await eventually(async () => expect((await client.records(domainId())).status).toBe(200));
  });

  it('a transaction that is left idle is ended', async () => {
    const sql = throughPooler(openPlain(url, 1) as never, { idle_in_transaction_session_timeout: 200 }, () => {});
    const left = sql.begin(async (transaction) => {
      await transaction`select 1`;
      // for good: the driver would roll back on the closed connection
      await new Promise(() => {});
    });
    await expect(left).rejects.toMatchObject({ code: expect.stringMatching(/^(25P03|CONNECTION_CLOSED|08P01)$/) });
  });

  it('every transaction has its own settings, and the next client of a connection none of them', async () => {
    const settings = (sql: postgres.Sql | postgres.TransactionSql) => sql<Record<string, string>[]>`
      select pg_sleep(0.1)::text as slept, pg_backend_pid()::text as pid, current_setting('jit') as jit,
        current_setting('TimeZone') as zone, current_setting('statement_timeout') as statement,
        current_setting('idle_in_transaction_session_timeout') as idle`;
    const all = <T>(each: () => Promise<T>) => Promise.all(Array.from({ length: serverConnections }, each));
    const own = open(7_000);
    const ours = { jit: 'off', zone: 'UTC', statement: '7s', idle: '1min' };
    const alone = await all(() => own.run((sql) => settings(sql)));
    const begun = await all(() => own.run((sql) => sql.begin('read only', (transaction) => settings(transaction))));
    for (const [row] of [...alone, ...begun]) expect(row).toMatchObject(ours);
    const plain = openPlain(url, serverConnections);
    for (const [row] of await all(() => settings(plain)))
      expect(row).toMatchObject({ jit: 'on', statement: '0', idle: '0' });
  });

  it('a month is dropped, which no transaction can do', async () => {
    const db = open(5_000);
    await db.run((sql) => makeMonth(sql, '2019-03'));
    expect(await db.run((sql) => dropMonth(sql, '2019-03'))).toBe(true);
    expect(await db.run(listMonths)).not.toContain('2019-03');
  });

  it('another server behind it is noticed like a lost connection, and what was under way is not stored', async () => {
    const db = open(5_000);
    const add = (name: string) => db.run((sql) => sql`insert into plans (name, consent_log) values (${name}, true)`);
    await add('before');
    const generation = db.generation();
    await server.stop();
    await server.start();
    // PgBouncer has found the new one, and this client was not connected to anything meanwhile
    const plain = openPlain(url, 1);
    await eventually(() => plain`select 1`);
    await expect(add('lost')).rejects.toThrow('the pooler leads to another server');
    expect(db.generation()).toBeGreaterThan(generation);
    await eventually(() => add('after'));
    const names = await db.run(
      (sql) => sql`select name from plans where name in ('before', 'lost', 'after') order by 1`,
    );
    expect(names.map(({ name }) => name)).toEqual(['after', 'before']);
  });

  it('without DATABASE_PREPARE=false no record is lost, no job uses up an attempt, and the log says what to set', async () => {
    // each transaction gets another server connection than the one before
    const settings = { default_pool_size: '2', server_round_robin: '1' };
    const [rotating, redis] = await Promise.all([
      startPgBouncer({ dataDir: path.join(inject('folder'), 'rotating'), databaseUrl: server.url, settings }),
      openRedisServer(),
    ]);
    atEnd(rotating.stop);
    const db = open(10_000);
    const own = await makeTenant(db);
    const connection = await openRedis(redis.url, 'worker');
    const queue = new Queue(recordQueue(0), { connection: connection.client, prefix: queuePrefix });
    atEnd(() => queue.close());
    const worker = await startWorkerProcess({
      DATABASE_URL: rotating.url,
      DATABASE_POOLER: 'true',
      REDIS_URL: redis.url,
    });
    const ids: string[] = [];
    await eventually(
      async () => {
        const record = recordAt(Date.now(), { domainId: at(own.domainIds, 0) });
        ids.push(record.id);
        await queue.add('record', { v: 1, records: [record] }, { attempts: 1 });
        expect(worker.lines.filter((line) => line.includes('jobs wait')).join()).toContain('DATABASE_PREPARE=false');
      },
      { every: 50 },
    );
    await worker.stop();
    await startWorkerProcess({ DATABASE_URL: url, DATABASE_PREPARE: 'false', REDIS_URL: redis.url });
    await eventually(async () => {
      expect((await queue.getFailed()).map(({ failedReason }) => failedReason)).toEqual([]);
      expect([await countStored(db, ids), await queue.getJobCounts()]).toEqual([
        ids.length,
        expect.objectContaining({ active: 0, waiting: 0 }),
      ]);
    });
  });
});
