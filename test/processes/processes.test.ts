/** What only whole processes show: signals, exit codes, and the one line of a bad setting. */
import { once } from 'node:events';
import { get } from 'node:http';
import { connect, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { persist } from '#libs/record/persist/persist';
import { atEnd } from '../support/at-end.ts';
import { createClient, tokenFor } from '../support/client.ts';
import { countStored } from '../support/counts.ts';
import { openGate } from '../support/gate.ts';
import { recordAt } from '../support/records.ts';
import { startApi, startApiProcess, startProcess, startWorker, startWorkerProcess } from '../support/service.ts';
import { apiSettings, jwtSecret } from '../support/settings.ts';
import { at, type Stores, startStack, useStores } from '../support/stack.ts';
import { makeTenant, openDatabase, openRedis } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const ended = { code: 0, signal: null };
const away = { DATABASE_URL: 'postgres://x:hunter2@127.0.0.1:1/x', REDIS_URL: 'redis://:hunter2@127.0.0.1:1' };

// most of it is waiting
describe.concurrent('a process', () => {
  /** Two clients record until nobody answers any more. */
  const recordOn = async ({ db }: Stores, baseUrl: string) => {
    const tenant = await makeTenant(db);
    const client = createClient(baseUrl, tenant);
    const acknowledged: string[] = [];
    const visit = async () => {
      for (;;) {
        const record = client.record(at(tenant.domainIds, 0), at(tenant.apiKeys, 0), { decision: 'custom' });
        const answer = await record.catch(() => null);
        if (!answer) return;
        if (answer.status === 202) acknowledged.push(answer.body.id);
      }
    };
    const visits = Promise.all([visit(), visit()]);
    return {
      untilMore: (count: number) => {
        const enough = acknowledged.length + count;
        return eventually(() => expect(acknowledged.length).toBeGreaterThan(enough));
      },
      untilAllStored: async () => {
        await visits;
        await eventually(async () => expect(await countStored(db, acknowledged)).toBe(acknowledged.length));
      },
    };
  };

  it('of the API ends with 0 while requests come in and clients are silent, and every acknowledged record is stored', async () => {
    const stores = useStores();
    const api = await startApiProcess(stores.env);
    const { hostname, port } = new URL(api.baseUrl);
    // connected and silent, or half-way through a request
    for (const text of [
      '',
      'GET / HTTP/1.1\r\nHost: a\r\n',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n',
    ]) {
      const socket = connect(Number(port), hostname, () => socket.write(text));
      socket.on('error', () => {});
      atEnd(() => void socket.destroy());
    }
    const { untilMore, untilAllStored } = await recordOn(stores, api.baseUrl);
    await untilMore(20);
    expect(await api.stop()).toEqual(ended);
    await untilAllStored();
  });

  it('of the worker that is killed while jobs come in leaves what is left to the next one', async () => {
    const stack = await startStack({ worker: false });
    const worker = await startWorkerProcess(stack.env);
    const { untilMore, untilAllStored } = await recordOn(stack, stack.api.baseUrl);
    await untilMore(20);
    expect(await worker.stop('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    await untilMore(10);
    await stack.api.stop();
    // what it held is its own for ten seconds
    const { client } = await openRedis(stack.redis.url, 'worker');
    await client.del('none', ...(await client.keys('*:lock')));
    await startWorker(stack.env);
    await untilAllStored();
  });

  it('ends with 0 also when nobody reads its log any more, and Postgres is away', async () => {
    const { env } = useStores();
    const { process: api } = await startApiProcess({ ...env, DATABASE_URL: away.DATABASE_URL });
    api.child.stdout?.destroy();
    api.child.stderr?.destroy();
    expect(await api.stop()).toEqual(ended);
  });

  it('of the API ends with 0 in its time while Postgres answers nothing of what a read, displays and acts wait for', async () => {
    // an own one: a key is remembered unless somebody changes something while it is looked up
    const { url, db } = await openDatabase();
    const gate = await openGate(url);
    const tenant = await makeTenant(db);
    const api = await startApiProcess({ ...useStores().env, DATABASE_URL: gate.url });
    const domainId = at(tenant.domainIds, 0);
    const display = async () => {
      const headers = { 'content-type': 'application/json', 'x-api-key': at(tenant.apiKeys, 0) };
      const path = `/v1/consent/${domainId}/displays`;
      expect((await fetch(api.baseUrl + path, { method: 'POST', headers, body: '{}' })).status).toBe(204);
    };
    await persist(db, [recordAt(Date.now(), { domainId })]);
    await display();
    expect((await createClient(api.baseUrl, tenant).records(domainId)).body.records).toHaveLength(1);
    gate.freeze();
    await display();
    const headers = { authorization: `Bearer ${tokenFor(tenant.organizationId)}`, expect: '100-continue' };
    const read = get(`${api.baseUrl}/v1/consent/${domainId}/records`, { headers });
    const answered = once(read, 'response');
    // it has arrived
    await once(read, 'continue');
    expect(await api.stop()).toEqual(ended);
    const [response] = await answered;
    expect(response.statusCode).toBe(503);
  });

  it.each(['DATABASE_URL', 'REDIS_URL'] as const)('stops without an error while %s is away', async (name) => {
    const { env } = useStores();
    const gate = await openGate(env[name]);
    const services = { ...env, [name]: gate.url };
    const both = await Promise.all([startApi(services), startWorker(services)]);
    gate.shut();
    expect(await Promise.all(both.map(({ stop }) => stop()))).toEqual([true, true]);
  });
});

describe.concurrent('at start', () => {
  const takePort = async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => void server.close());
    const address = server.address();
    return String(typeof address === 'object' && address ? address.port : '');
  };

  it.each<[string, string, Record<string, string>]>([
    ['api', 'JWT_SECRET', { JWT_SECRET: 'hunter2' }],
    ['api', 'GEOIP_FILE', { GEOIP_FILE: 'package.json', WEB_CONCURRENCY: '2' }],
  ])('a bad setting stops the process of the %s with one line that names %s', async (main, setting, env) => {
    const service = startProcess(main, { ...apiSettings, ...away, ...env });
    const { code } = await service.process.exited;
    // a process may be gone before its output was read
    await eventually(() => expect(service.lines.length).toBeGreaterThan(0));
    const line = expect.stringMatching(new RegExp(`^${setting} `));
    expect({ code, lines: service.lines }).toEqual({ code: 1, lines: [line] });
    for (const secret of ['hunter2', jwtSecret]) expect(service.lines[0]).not.toContain(secret);
  });

  it('a port that is taken is an error that names it', async () => {
    const { env } = useStores();
    const port = await takePort();
    const told = (name: string) => new RegExp(`^${name} ${port} on \\S+ is taken$`);
    await expect(startApi({ ...env, PORT: port })).rejects.toThrow(told('PORT'));
    await expect(startApi({ ...env, OPS_PORT: port })).rejects.toThrow(told('OPS_PORT'));
    await expect(startWorker({ ...env, OPS_PORT: port })).rejects.toThrow(told('OPS_PORT'));
  });

  it('an API of several processes whose port is taken ends', async () => {
    const env = { ...apiSettings, ...away, LOG_LEVEL: 'silent', WEB_CONCURRENCY: '2', PORT: await takePort() };
    expect((await startProcess('api', env).process.exited).code).toBe(1);
  });
});
