/** What the API does while Postgres or Redis is away, or takes requests and never answers. */
import { describe, expect, it } from 'vitest';
import { addDays, dayOf } from '#libs/base/terms/calendar';
import { type Answer, createClient, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { countRecords, storedCounters } from '../support/counts.ts';
import { openGate } from '../support/gate.ts';
import { makeId } from '../support/ids.ts';
import { sampleOf } from '../support/metrics.ts';
import { openPool } from '../support/pool.ts';
import { expectProblem } from '../support/problems.ts';
import { startApi, startWorker } from '../support/service.ts';
import { privacyKey } from '../support/settings.ts';
import { at, startStack, useStores } from '../support/stack.ts';
import { makeTenant, openRedis, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const decided = { decision: 'custom' };
const mine = 'https://shop.example';
const today = dayOf(Date.now());

const { db, env } = useStores();
const { DATABASE_URL, REDIS_URL } = env;
/** doors between the API and the stores; the worker is on the other side */
const [postgres, redis] = await Promise.all([openGate(DATABASE_URL), openGate(REDIS_URL)]);
const tenant = await makeTenant(db, { domains: 5, origins: [mine] });
const api = await startApi({ DATABASE_URL: postgres.url, REDIS_URL: redis.url, PRIVACY_KEY: privacyKey });
const [domainId, apiKey] = [at(tenant.domainIds, 0), at(tenant.apiKeys, 0)];
const client = createClient(api.baseUrl, tenant);

describe('an outage', () => {
  const record = (headers: Record<string, string> = {}, domain = 0) =>
    client.record(at(tenant.domainIds, domain), at(tenant.apiKeys, domain), decided, headers);
  const reads = (): Promise<Answer<ProblemAnswer>>[] => [
    client.stats(domainId, 'from=2026-01-01&to=2026-01-31'),
    client.records(domainId),
    client.orgStats(),
    client.organization(),
  ];
  const readiness = async () => {
    const response = await fetch(`${api.opsUrl}/readyz`);
    const body = (await response.json()) as { degraded: { part: string; since: string; costs: string }[] };
    return { status: response.status, body };
  };
  const expectUnavailable = (answer: Answer<ProblemAnswer>) => {
    expectProblem(answer, 503, 'unavailable');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  };
  /** For a moment a busy machine may keep Redis from answering, too. */
  const untilQueued = () => eventually(async () => expect((await record()).body.status).toBe('queued'));
  const untilAllIsWell = async () => {
    await untilQueued();
    await eventually(async () =>
      expect((await Promise.all(reads())).map(({ status }) => status)).toEqual([200, 200, 200, 200]),
    );
    await eventually(async () =>
      expect(await readiness()).toEqual({ status: 200, body: { ready: true, postgres: true, redis: true } }),
    );
  };

  it('of nothing: all is well', untilAllIsWell);

  it('of Postgres: records of known keys are queued, and what needs it is unavailable, not refused', async () => {
    const shutAt = Date.now();
    postgres.shut();
    await untilQueued();
    expectUnavailable(await record({}, 1));
    for (const read of reads().slice(1, 3)) expectUnavailable(await read);
    // nothing has been sent with an origin yet, so only the key is known
    expectProblem(await record({ origin: 'https://evil.example' }), 403, 'origin_not_allowed');
    // the API can record, so it is ready, and says what is degraded, since when, and what that costs
    const askedAt = Date.now();
    const degraded = [expect.objectContaining({ part: 'postgres', costs: expect.stringContaining('safe in Redis') })];
    const { since } = await eventually(async () => {
      const { status, body } = await readiness();
      expect({ status, body }).toMatchObject({ status: 200, body: { postgres: false, redis: true, degraded } });
      return at(body.degraded, 0);
    });
    // it was noticed when it began, not when it was asked for
    expect([Date.parse(since) >= shutAt, Date.parse(since) <= askedAt]).toEqual([true, true]);
    expect(await readiness()).toMatchObject({ body: { degraded: [{ since }] } });
    postgres.open();
    await untilAllIsWell();
  });

  it('in which Postgres never answers, and then Redis neither: unavailable, with the id to send again; the API lives and is not ready', async () => {
    postgres.freeze();
    const unknown = [record({ origin: mine }, 2), record({ origin: mine }, 3)];
    for (const answer of await Promise.all([...unknown, ...reads().slice(1, 3)])) expectUnavailable(answer);
    const authorization = `Bearer ${tokenFor(tenant.organizationId, { scope: 'privacy' })}`;
    const path = '/v1/organization/visitors/v';
    const erasing = await request<ProblemAnswer>(api.baseUrl, path, { method: 'DELETE', headers: { authorization } });
    expectUnavailable(erasing);
    // nobody knows whether it has begun
    expect(erasing.body.erasureId).toMatch(/^ers_/);
    await untilQueued();
    redis.freeze();
    const id = makeId();
    const own = client.record(domainId, apiKey, { ...decided, id });
    const refused = await Promise.all([own, ...Array.from({ length: 20 }, () => record()), ...reads()]);
    for (const answer of refused) expectUnavailable(answer);
    // to send it again with
    expect(at(refused, 0).body.id).toBe(id);
    expect(at(refused, 1).body.id).toEqual(expect.any(String));
    await eventually(async () => expect((await readiness()).status).toBe(503));
    const { degraded } = (await readiness()).body;
    expect(degraded.map(({ part }) => part)).toEqual(['postgres', 'redis']);
    for (const { costs } of degraded) expect(costs).toContain('answer 503');
    expect((await fetch(`${api.opsUrl}/livez`)).status).toBe(200);
    postgres.open();
    redis.open();
    await untilAllIsWell();
  });

  it('of Redis: records are persisted, reads come from Postgres, and afterwards from Redis with the same numbers', async () => {
    const tenant = await makeTenant(db);
    const [domainId, apiKey] = [at(tenant.domainIds, 0), at(tenant.apiKeys, 0)];
    const client = createClient(api.baseUrl, tenant);
    const acknowledged: string[] = [];
    const add = async (way: string) => {
      const { status, body } = await client.record(domainId, apiKey, decided);
      if (status === 202) acknowledged.push(body.id);
      expect([status, body.status]).toEqual([202, way]);
    };
    const untilCounted = (source: string) =>
      eventually(async () => {
        const { body, headers } = await client.stats(domainId, `from=${today}&to=${addDays(today, 1)}`);
        expect([headers.get('x-stats-source'), body.total]).toEqual([source, acknowledged.length]);
        return body;
      });
    await eventually(() => add('queued'));
    await untilCounted('redis');
    redis.freeze();
    // the first may be the one that finds out
    await Promise.all(Array.from({ length: 20 }, () => add('persisted')));
    const away = await untilCounted('postgres');
    const overview = await client.orgStats();
    expect(overview.body).toMatchObject({ total: away.total, recordsTotal: away.total });
    expect(overview.headers.get('x-stats-source')).toBe('postgres');
    redis.open();
    expect(await untilCounted('redis')).toEqual(away);
    await eventually(() => add('queued'));
    await untilCounted('redis');
    // nothing is there twice, also what Redis took and did not answer
    const { body: log } = await client.records(domainId, 'limit=200');
    expect(log.records.map(({ id }) => id).sort()).toEqual(acknowledged.toSorted());
    expect(await storedCounters(db, tenant.organizationId)).toEqual(await countRecords(db, tenant.organizationId));
  });

  it('in which Postgres is read-only, or its disk is full: it is not usable, though it answers', async () => {
    const own = await startStack({ worker: false });
    const setDisk = (insert: string) =>
      own.db.run((sql) =>
        sql.unsafe(
          `create or replace function insert_on_disk() returns trigger language plpgsql as $$ begin ${insert}; end $$`,
        ),
      );
    await setDisk('return new');
    await own.sql`create trigger disk before insert on records for each row execute function insert_on_disk()`;
    const worker = await startWorker(own.env);
    // Redis takes nothing: records go straight to Postgres
    const direct = await startApi({ ...own.env, REDIS_URL: 'redis://127.0.0.1:1' });
    const fresh = createClient(direct.baseUrl, own.tenant);
    const add = () => fresh.record(own.domainId, own.apiKey, decided);
    const expectPostgres = async (isUsable: boolean, reason: string, addresses: { opsUrl: string }[]) => {
      for (const { opsUrl } of addresses) {
        const ready = await fetch(`${opsUrl}/readyz`);
        const why = [expect.objectContaining({ part: 'postgres', reason: expect.stringContaining(reason) })];
        expect([ready.status, await ready.json()]).toEqual([
          isUsable || opsUrl === own.api.opsUrl ? 200 : 503,
          expect.objectContaining({ postgres: isUsable, ...(!isUsable && { degraded: expect.arrayContaining(why) }) }),
        ]);
        expect(await sampleOf(opsUrl, 'assent_postgres_usable')).toBe(isUsable ? 1 : 0);
      }
    };
    const untilPostgres = (isUsable: boolean, reason = '') =>
      eventually(() => expectPostgres(isUsable, reason, [own.api, worker, direct]));
    await untilPostgres(true);
    const admin = openPool(own.env.DATABASE_URL, { max: 1 });
    const switchTo = (setting: string) =>
      admin.run((sql) =>
        sql.begin('read write', async (transaction) => {
          const [row] = await transaction`select quote_ident(current_database()) as name`;
          await transaction.unsafe(`alter database ${row?.name} ${setting}`);
          await transaction`
            select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid()`;
        }),
      );
    await switchTo('set default_transaction_read_only = on');
    await untilPostgres(false, 'read-only');
    await switchTo('reset default_transaction_read_only');
    await untilPostgres(true);

    // as of a relation that cannot grow
    await setDisk(
      `raise exception 'could not extend file "base/1/2": No space left on device' using errcode = 'disk_full'`,
    );
    await eventually(async () =>
      expect((await own.client.record(own.domainId, own.apiKey, decided)).body.status).toBe('queued'),
    );
    await eventually(async () => {
      expectUnavailable(await add());
      await expectPostgres(false, 'No space left on device', [direct, worker]);
    });
    await setDisk('return new');
    await eventually(async () => expect((await add()).body.status).toBe('persisted'));
    await untilPostgres(true);
  });

  it('in which the user of Redis lacks a right to take jobs: the worker is not ready, the API is', async () => {
    const { url } = await openRedisServer();
    const stores = { DATABASE_URL, REDIS_URL: url };
    const [taking, adding] = await Promise.all([startWorker(stores), startApi(stores)]);
    const { client: admin } = await openRedis(url);
    await admin.call('ACL', 'SETUSER', 'default', '-bzpopmin');
    const degraded = [expect.objectContaining({ part: 'redis', reason: expect.stringContaining('BZPOPMIN') })];
    await eventually(async () => {
      const ready = await Promise.all([taking, adding].map(({ opsUrl }) => fetch(`${opsUrl}/readyz`)));
      expect(ready.map(({ status }) => status)).toEqual([503, 200]);
      expect(await ready[0]?.json()).toEqual({ ready: false, postgres: true, redis: false, degraded });
      expect(await sampleOf(taking.opsUrl, 'assent_redis_usable')).toBe(0);
    });
  });

  it('of Redis, which an API meets when it starts: it serves', async () => {
    const api = await startApi({ ...env, REDIS_URL: 'redis://127.0.0.1:1' });
    const fresh = createClient(api.baseUrl, tenant);
    const id = makeId();
    await eventually(async () =>
      expect((await fresh.record(domainId, apiKey, { ...decided, id })).body.status).toBe('persisted'),
    );
    expect((await fresh.records(domainId)).body.records.map(({ id }) => id)).toContain(id);
    expect((await fetch(`${api.opsUrl}/readyz`)).status).toBe(200);
  });
});
