/** What the API does while Postgres or Redis is away, or takes requests and never answers. */
import { describe, expect, it } from 'vitest';
import { addDays, dayOf } from '#libs/base/terms/calendar';
import { persist } from '#libs/record/persist/persist';
import { type Answer, createClient, type ProblemAnswer } from '../support/client.ts';
import { countRecords, storedCounters } from '../support/counts.ts';
import { openGate } from '../support/gate.ts';
import { expectProblem } from '../support/problems.ts';
import { recordAt } from '../support/records.ts';
import { startApi } from '../support/service.ts';
import { at, useStores } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const decided = { decision: 'custom' };
const mine = 'https://shop.example';
const today = dayOf(Date.now());

const stores = useStores();
const { DATABASE_URL, REDIS_URL } = stores.env;
/** doors between the API and the stores; the worker is on the other side */
const [postgres, redis] = await Promise.all([openGate(DATABASE_URL), openGate(REDIS_URL)]);
const tenant = await makeTenant(stores.db, { domains: 5, origins: [mine] });
const api = await startApi({ DATABASE_URL: postgres.url, REDIS_URL: redis.url });
const [domainId, apiKey] = [at(tenant.domainIds, 0), at(tenant.apiKeys, 0)];
const stack = { ...stores, api, tenant, client: createClient(api.baseUrl, tenant), domainId, apiKey };

describe('an outage', () => {
  const record = (headers: Record<string, string> = {}, domain = 0) =>
    stack.client.record(at(stack.tenant.domainIds, domain), at(stack.tenant.apiKeys, domain), decided, headers);
  const reads = (): Promise<Answer<ProblemAnswer>>[] => [
    stack.client.stats(stack.domainId, 'from=2026-01-01&to=2026-01-31'),
    stack.client.records(stack.domainId),
    stack.client.orgStats(),
    stack.client.organization(),
  ];
  const readiness = async () => {
    const response = await fetch(`${stack.api.opsUrl}/readyz`);
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
  });

  it('of both: a record is unavailable, with the id to send again, and so are reads; the API lives and is not ready', async () => {
    postgres.shut();
    redis.freeze();
    const { id = '' } = (await record()).body;
    const again = await stack.client.record(stack.domainId, stack.apiKey, { ...decided, id });
    expectUnavailable(again);
    expect(again.body.id).toBe(id);
    for (const read of await Promise.all(reads())) expectUnavailable(read);
    await eventually(async () => expect((await readiness()).status).toBe(503));
    const { degraded } = (await readiness()).body;
    expect(degraded.map(({ part }) => part)).toEqual(['postgres', 'redis']);
    for (const { costs } of degraded) expect(costs).toContain('answer 503');
    expect((await fetch(`${stack.api.opsUrl}/livez`)).status).toBe(200);
    postgres.open();
    redis.open();
    await untilAllIsWell();
  });

  it('in which Postgres takes requests and never answers: unavailable all the same, also without Redis', async () => {
    postgres.freeze();
    const unknown = [record({ origin: mine }, 2), record({ origin: mine }, 3)];
    for (const answer of await Promise.all([...unknown, ...reads().slice(1, 3)])) expectUnavailable(answer);
    await untilQueued();
    redis.freeze();
    for (const answer of await Promise.all(Array.from({ length: 20 }, () => record()))) expectUnavailable(answer);
    postgres.open();
    redis.open();
    await untilAllIsWell();
  });

  it('of a table that somebody has locked: what needs it is unavailable, and nothing else', async () => {
    // where there is nothing to read, no read waits
    await persist(stack.db, [recordAt(Date.now(), { domainId: stack.domainId })]);
    await stack.db.run((sql) =>
      sql.begin(async (transaction) => {
        await transaction`lock table records in access exclusive mode`;
        const answers = await Promise.all([stack.client.records(stack.domainId), stack.client.orgStats()]);
        for (const answer of answers) expectUnavailable(answer);
        expect((await stack.client.organization()).status).toBe(200);
        await untilQueued();
      }),
    );
    expect((await stack.client.records(stack.domainId)).status).toBe(200);
  });

  it.each(['shut', 'freeze'] as const)(
    'of Redis (%s): records are persisted, reads come from Postgres, and afterwards from Redis with the same numbers',
    async (how) => {
      const { db, api } = stack;
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
      redis[how]();
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
      const { organizationId } = tenant;
      expect(await storedCounters(db, organizationId)).toEqual(await countRecords(db, organizationId));
    },
  );

  it('of Redis, which an API meets when it starts: it serves', async () => {
    const { env, tenant, domainId, apiKey } = stack;
    const api = await startApi({ ...env, REDIS_URL: 'redis://127.0.0.1:1' });
    const fresh = createClient(api.baseUrl, tenant);
    const { status, body } = await fresh.record(domainId, apiKey, decided);
    expect([status, body.status]).toEqual([202, 'persisted']);
    expect((await fresh.records(domainId)).body.records.map(({ id }) => id)).toContain(body.id);
    expect((await fetch(`${api.opsUrl}/readyz`)).status).toBe(200);
  });
});
