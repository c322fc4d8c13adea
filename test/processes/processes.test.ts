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
import { listen } from '../support/listen.ts';
import { recordAt } from '../support/records.ts';
import { startApi, startApiProcess, startProcess, startWorker } from '../support/service.ts';
import { apiSettings, jwtSecret } from '../support/settings.ts';
import { at, useStores } from '../support/stack.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const ended = { code: 0, signal: null };
const away = { DATABASE_URL: 'postgres://x:hunter2@127.0.0.1:1/x', REDIS_URL: 'redis://:hunter2@127.0.0.1:1' };

// most of it is waiting
describe.concurrent('a process', () => {
  it('of the API ends with 0 while requests come in and clients are silent, and every acknowledged record is stored', async () => {
    const { db, env } = useStores();
    const api = await startApiProcess(env);
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
    const tenant = await makeTenant(db);
    const client = createClient(api.baseUrl, tenant);
    const acknowledged: string[] = [];
    /** Records until nobody answers any more. */
    const visit = async () => {
      for (;;) {
        const record = client.record(at(tenant.domainIds, 0), at(tenant.apiKeys, 0), { decision: 'custom' });
        const answer = await record.catch(() => null);
        if (!answer) return;
        if (answer.status === 202) acknowledged.push(answer.body.id);
      }
    };
    const visits = Promise.all([visit(), visit()]);
    await eventually(() => expect(acknowledged.length).toBeGreaterThan(20));
    expect(await api.stop()).toEqual(ended);
    await visits;
    await eventually(async () => expect(await countStored(db, acknowledged)).toBe(acknowledged.length));
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
    // on a busy machine the first may come too late
    await eventually(display);
    const { records } = createClient(api.baseUrl, tenant);
    await eventually(async () => expect((await records(domainId)).status).toBe(200));
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

  it('a port that is taken is an error that names it, and ends an API of several processes', async () => {
    const { env } = useStores();
    const port = String(await listen(createServer()));
    const told = (name: string) => new RegExp(`^${name} ${port} on \\S+ is taken$`);
    await expect(startApi({ ...env, PORT: port })).rejects.toThrow(told('PORT'));
    await expect(startApi({ ...env, OPS_PORT: port })).rejects.toThrow(told('OPS_PORT'));
    await expect(startWorker({ ...env, OPS_PORT: port })).rejects.toThrow(told('OPS_PORT'));
    await expect(startApi({ ...env, HOST: '192.0.2.1' })).rejects.toThrow(
      /^HOST 192.0.2.1 is not an address of this machine/,
    );
    const several = { ...apiSettings, ...away, LOG_LEVEL: 'silent', WEB_CONCURRENCY: '2', PORT: port };
    expect((await startProcess('api', several).process.exited).code).toBe(1);
  });
});
