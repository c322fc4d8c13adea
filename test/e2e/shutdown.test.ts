import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type Client, createClient } from '../support/client.ts';
import { type Service, startApiProcess, startWorkerProcess } from '../support/service.ts';
import { at, openStores } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const decided = { decision: 'custom' };

/** Records one after the other, until it gets no answer any more. */
async function recordOn(record: () => ReturnType<Client['record']>, acknowledged: string[]): Promise<void> {
  for (;;) {
    const answer = await record().catch(() => null);
    if (!answer) return;
    if (answer.status === 202) acknowledged.push(answer.body.id);
  }
}

// those that only wait do so at once, each with stores of its own
describe.concurrent('SIGTERM', () => {
  const startPair = async () => {
    const { db, env } = await openStores();
    const tenant = await makeTenant(db);
    const [api, worker] = await Promise.all([startApiProcess(env), startWorkerProcess(env)]);
    const client = createClient(api.baseUrl, tenant);
    const record = () => client.record(at(tenant.domainIds, 0), at(tenant.apiKeys, 0), decided);
    const acknowledged: string[] = [];
    const countStored = () =>
      db.run(async (sql) => {
        const [row] = await sql<{ n: number }[]>`
          select count(*) as n from records where id = any(${acknowledged}::uuid[])`;
        return row?.n;
      });
    return {
      env,
      api,
      worker,
      record,
      acknowledged,
      /** ten clients, until the API is gone */
      recordOnAndOn: () => Promise.all(Array.from({ length: 10 }, () => recordOn(record, acknowledged))),
      untilMoreThan: (count: number) =>
        eventually(() => expect(acknowledged.length).toBeGreaterThan(count), { within: 30_000 }),
      untilAllStored: () =>
        eventually(async () => expect(await countStored()).toBe(acknowledged.length), { within: 20_000 }),
    };
  };
  const untilHandled = (service: Service) => service.logged('stopping');

  it.sequential('ends an API with 0 while requests come in, and every acknowledged record is stored', async () => {
    const { api, recordOnAndOn, untilMoreThan, untilAllStored } = await startPair();
    const ended = recordOnAndOn();
    await untilMoreThan(100);
    expect(await api.stop()).toEqual({ code: 0, signal: null });
    await ended;
    await untilAllStored();
  });

  it.sequential('ends a worker with 0 while jobs come in, and the next one stores what is left', async () => {
    const { env, api, worker, acknowledged, recordOnAndOn, untilMoreThan, untilAllStored } = await startPair();
    const ended = recordOnAndOn();
    await untilMoreThan(100);
    expect(await worker.stop()).toEqual({ code: 0, signal: null });
    await untilMoreThan(acknowledged.length + 50);
    await api.stop();
    await ended;
    await startWorkerProcess(env);
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
    const { api, record } = await startPair();
    const { hostname, port } = new URL(api.baseUrl);
    const sockets = [
      '',
      'GET / HTTP/1.1\r\nHost: a\r\n',
      'POST /v1/consent/x/record HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n',
    ].map((text) => {
      const socket = connect(Number(port), hostname, () => socket.write(text));
      return socket.on('error', () => {});
    });
    await record();
    const started = performance.now();
    expect(await api.stop()).toEqual({ code: 0, signal: null });
    expect(performance.now() - started).toBeLessThan(9_500);
    for (const socket of sockets) socket.destroy();
  });

  const away = { DATABASE_URL: 'postgres://x:x@127.0.0.1:1/x', REDIS_URL: 'redis://127.0.0.1:1' };

  it.each<[string, Partial<typeof away>]>([
    ['Postgres', { DATABASE_URL: away.DATABASE_URL }],
    ['Redis', { REDIS_URL: away.REDIS_URL }],
  ])('ends API and worker with 0 also while this is away: %s', async (_, missing) => {
    const env = { ...(await openStores()).env, ...missing };
    const services = await Promise.all([startApiProcess(env), startWorkerProcess(env)]);
    const exits = await Promise.all(services.map((service) => service.process.stop('SIGTERM', 15_000)));
    expect(exits).toEqual([
      { code: 0, signal: null },
      { code: 0, signal: null },
    ]);
  });

  it('ends API and worker with 0 also when nobody reads their log any more', async () => {
    const { env } = await openStores();
    const services = await Promise.all([
      startApiProcess(away),
      startWorkerProcess({ ...env, DATABASE_URL: away.DATABASE_URL }),
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
