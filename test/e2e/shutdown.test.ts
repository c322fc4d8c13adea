import { connect } from 'node:net';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../support/client.ts';
import { type Service, startApi, startWorker } from '../support/service.ts';
import { at, openStores, type Stores } from '../support/stack.ts';
import { makeTenant, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const decided = { decision: 'custom' };

describe('SIGTERM', () => {
  let stores: Stores;
  let tenant: Tenant;
  let domainId: string;
  let apiKey: string;
  let acknowledged: string[];

  beforeAll(async () => {
    stores = await openStores();
    tenant = await makeTenant(stores.db);
    domainId = at(tenant.domainIds, 0);
    apiKey = at(tenant.apiKeys, 0);
  });
  beforeEach(() => {
    acknowledged = [];
  });

  /** Records one after the other, until it gets no answer any more. */
  const recordOn = async (client: Client) => {
    for (;;) {
      const answer = await client.record(domainId, apiKey, decided).catch(() => null);
      if (!answer) return;
      if (answer.status === 202) acknowledged.push(answer.body.id);
    }
  };
  const untilAcknowledged = (count: number) => eventually(() => expect(acknowledged.length).toBeGreaterThan(count));

  const countStored = async (ids: string[]) => {
    const [row] = await stores.db.run(
      (sql) => sql<{ n: number }[]>`select count(*) as n from records where id = any(${ids}::uuid[])`,
    );
    return row?.n;
  };
  const untilAllStored = () =>
    eventually(async () => expect(await countStored(acknowledged)).toBe(acknowledged.length), { within: 20_000 });

  const startPair = async () => {
    const [api, worker] = await Promise.all([startApi(stores.env), startWorker(stores.env)]);
    return { api, worker, client: createClient(api.baseUrl, tenant) };
  };
  const untilHandled = (service: Service) => service.logged('stopping');

  it('ends an API with 0 while requests come in, and every acknowledged record is stored', async () => {
    const { api, client } = await startPair();
    const loops = Promise.all(Array.from({ length: 10 }, () => recordOn(client)));
    await untilAcknowledged(100);
    expect(await api.stop()).toEqual({ code: 0, signal: null });
    await loops;
    await untilAllStored();
  });

  it('ends a worker with 0 while jobs come in, and the next one stores what is left', async () => {
    const { api, worker, client } = await startPair();
    const loops = Promise.all(Array.from({ length: 10 }, () => recordOn(client)));
    await untilAcknowledged(100);
    expect(await worker.stop()).toEqual({ code: 0, signal: null });
    await untilAcknowledged(acknowledged.length + 50);
    await api.stop();
    await loops;
    await startWorker(stores.env);
    await untilAllStored();
  });

  it('twice in a row is once', async () => {
    const { api, worker } = await startPair();
    for (const service of [api, worker]) {
      const ended = service.stop();
      await untilHandled(service);
      service.process.child.kill('SIGTERM');
      service.process.child.kill('SIGINT');
      expect(await ended).toEqual({ code: 0, signal: null });
    }
  });

  it('does not wait for clients that are connected and silent, or have sent half a request', async () => {
    const { api, client } = await startPair();
    const { hostname, port } = new URL(api.baseUrl);
    const sockets = [
      '',
      'GET / HTTP/1.1\r\nHost: a\r\n',
      'POST /v1/consent/x/record HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n',
    ].map((text) => {
      const socket = connect(Number(port), hostname, () => socket.write(text));
      return socket.on('error', () => {});
    });
    await client.record(domainId, apiKey, decided);
    const started = performance.now();
    expect(await api.stop()).toEqual({ code: 0, signal: null });
    expect(performance.now() - started).toBeLessThan(9_500);
    for (const socket of sockets) socket.destroy();
  });

  const away = { DATABASE_URL: 'postgres://x:x@127.0.0.1:1/x', REDIS_URL: 'redis://127.0.0.1:1' };

  it.concurrent.each<[string, Partial<typeof away>]>([
    ['Postgres', { DATABASE_URL: away.DATABASE_URL }],
    ['Redis', { REDIS_URL: away.REDIS_URL }],
  ])('ends API and worker with 0 also while this is away: %s', async (_, missing) => {
    const env = { ...stores.env, ...missing };
    const services = await Promise.all([startApi(env), startWorker(env)]);
    const exits = await Promise.all(services.map((service) => service.process.stop('SIGTERM', 15_000)));
    expect(exits).toEqual([
      { code: 0, signal: null },
      { code: 0, signal: null },
    ]);
  });

  it('ends API and worker with 0 also when nobody reads their log any more', async () => {
    const services = await Promise.all([
      startApi(away),
      startWorker({ ...stores.env, DATABASE_URL: away.DATABASE_URL }),
    ]);
    const exits = services.map((service) => {
      service.process.child.stdout?.destroy();
      service.process.child.stderr?.destroy();
      return service.process.stop('SIGTERM', 15_000);
    });
    expect(await Promise.all(exits)).toEqual([
      { code: 0, signal: null },
      { code: 0, signal: null },
    ]);
  });
});
