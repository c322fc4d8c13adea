import { beforeAll, describe, expect, it } from 'vitest';
import type { RunningRedis } from '../../scripts/stack/redis.ts';
import { atEnd } from '../support/at-end.ts';
import { type Answer, type Client, createClient, type ProblemAnswer } from '../support/client.ts';
import { type Gate, openGate } from '../support/gate.ts';
import { expectProblem } from '../support/problems.ts';
import { type ApiProcess, startApiProcess } from '../support/service.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, openRedisServer, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

/** The service answers within 5 s; the rest is what a busy machine may add. */
const inTime = 9_000;
const decided = { decision: 'custom' };
const range = 'from=2026-01-01&to=2026-01-31';
const mine = 'https://shop.example';

async function timed<T>(work: Promise<T>): Promise<{ answer: T; duration: number }> {
  const started = performance.now();
  const answer = await work;
  return { answer, duration: performance.now() - started };
}

describe('an outage', () => {
  let postgres: Gate;
  let redis: RunningRedis;
  let api: ApiProcess;
  let tenant: Tenant;
  let client: Client;
  let domainId: string;
  let apiKey: string;

  beforeAll(async () => {
    const { url, db } = await openDatabase();
    redis = await openRedisServer();
    postgres = await openGate(url);
    tenant = await makeTenant(db, { domains: 4, origins: [mine] });
    api = await startApiProcess({ DATABASE_URL: postgres.url, REDIS_URL: redis.url });
    client = createClient(api.baseUrl, tenant);
    domainId = at(tenant.domainIds, 0);
    apiKey = at(tenant.apiKeys, 0);
    // a frozen process cannot be asked to end
    atEnd(thaw);
  });

  const freeze = () => process.kill(redis.pid, 'SIGSTOP');
  const thaw = () => process.kill(redis.pid, 'SIGCONT');

  const record = (headers: Record<string, string> = {}, domain = 0) =>
    client.record(at(tenant.domainIds, domain), at(tenant.apiKeys, domain), decided, headers);
  const reads = (): Promise<Answer<ProblemAnswer>>[] => [
    client.stats(domainId, range),
    client.records(domainId),
    client.orgStats(),
    client.organization(),
  ];
  const allReadsAnswer = (status: number) =>
    eventually(async () =>
      expect((await Promise.all(reads())).map((each) => each.status)).toEqual(Array(4).fill(status)),
    );
  const readiness = async () => {
    const response = await fetch(`${api.opsUrl}/readyz`);
    const body = (await response.json()) as { degraded: { part: string; since: string; costs: string }[] };
    return { status: response.status, body };
  };
  const expectUnavailable = ({ answer, duration }: { answer: Answer<ProblemAnswer>; duration: number }) => {
    expectProblem(answer, 503, 'unavailable');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(duration).toBeLessThan(inTime);
  };

  it('of nothing: all is well', async () => {
    expect((await record()).body.status).toBe('queued');
    await allReadsAnswer(200);
    expect(await readiness()).toMatchObject({ status: 200, body: { ready: true, postgres: true, redis: true } });
  });

  describe('of Postgres', () => {
    let shutAt: number;

    beforeAll(() => {
      shutAt = Date.now();
      postgres.shut();
    });

    it('records of known keys are queued', async () => {
      const { answer, duration } = await timed(record());
      expect({ status: answer.status, how: answer.body.status }).toEqual({ status: 202, how: 'queued' });
      expect(duration).toBeLessThan(1_400);
    });

    it('a key that is not known is unavailable, not invalid', async () => {
      expectUnavailable(await timed(record({}, 1)));
    });

    it('reads are unavailable', async () => {
      for (const read of reads().slice(1, 3)) expectUnavailable(await timed(read));
    });

    it('an origin that is not listed may not record, whether its list was asked for before or not', async () => {
      // nothing has been sent with an origin yet, so only the key is known
      expectProblem(await record({ origin: 'https://evil.example' }), 403, 'origin_not_allowed');
    });

    it('the API is still ready, since it can record, and says what is degraded, since when, and what that costs', async () => {
      const { status, body } = await readiness();
      expect({ status, body }).toMatchObject({ status: 200, body: { postgres: false, redis: true } });
      expect(body.degraded).toEqual([
        expect.objectContaining({ part: 'postgres', costs: expect.stringContaining('safe in Redis') }),
      ]);
      const { since } = at(body.degraded, 0);
      // it was noticed when it began, not when it was asked for
      expect(Math.abs(Date.parse(since) - shutAt)).toBeLessThan(4_000);
      expect(await readiness()).toMatchObject({ body: { degraded: [{ since }] } });
    });
  });

  describe('of both stores', () => {
    beforeAll(async () => {
      postgres.shut();
      freeze();
    });

    it('a record is unavailable in time, with the id to send again', async () => {
      const id = (await timed(record())).answer.body.id ?? '';
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const { answer, duration } = await timed(client.record(domainId, apiKey, { ...decided, id }));
        expectUnavailable({ answer, duration });
        expect(answer.body.id).toBe(id);
      }
    });

    it('reads are unavailable in time', async () => {
      for (const read of await Promise.all(reads().map(timed))) expectUnavailable(read);
    });

    it('the API is alive and not ready', async () => {
      await eventually(async () => expect((await readiness()).status).toBe(503));
      const { degraded } = (await readiness()).body;
      expect(degraded.map(({ part }) => part)).toEqual(['postgres', 'redis']);
      for (const { costs } of degraded) expect(costs).toContain('answer 503');
      expect((await fetch(`${api.opsUrl}/livez`)).status).toBe(200);
    });

    it('ends, and all is well again', async () => {
      postgres.open();
      thaw();
      await eventually(async () => expect((await record()).body.status).toBe('queued'));
      await allReadsAnswer(200);
      await eventually(async () =>
        expect(await readiness()).toEqual({ status: 200, body: { ready: true, postgres: true, redis: true } }),
      );
    });
  });

  describe('in which Postgres takes requests and never answers', () => {
    beforeAll(() => {
      postgres.freeze();
    });

    it('records of a key that is not known are unavailable in time, also one behind the other', async () => {
      const headers = { origin: mine };
      // connections are open before, so that the first reaches the API before the request after it is answered
      const pass = () => fetch(api.baseUrl).then((response) => response.text());
      await Promise.all(Array.from({ length: 4 }, pass));
      const first = timed(record(headers, 2));
      await pass();
      const second = timed(record(headers, 3));
      for (const attempt of await Promise.all([first, second])) expectUnavailable(attempt);
    });

    it('reads are unavailable in time', async () => {
      for (const read of await Promise.all(reads().slice(1, 3).map(timed))) expectUnavailable(read);
    });

    it('records go on through Redis, and without it are unavailable in time', async () => {
      expect((await record()).body.status).toBe('queued');
      freeze();
      const answers = await Promise.all(Array.from({ length: 20 }, () => timed(record())));
      for (const each of answers) expectUnavailable(each);
    });

    it('ends, and all is well again', async () => {
      postgres.open();
      thaw();
      await eventually(async () => expect((await record()).body.status).toBe('queued'));
      await allReadsAnswer(200);
    });
  });
});
