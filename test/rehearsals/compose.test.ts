/** What docker-compose.yml starts, as far as it runs without a container engine: secrets, Redis, API, worker, proxy. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { parse } from 'yaml';
import { readPage } from '#libs/log/domain-page';
import { type Setting, settings } from '../../apps/settings/settings.ts';
import { findRedis, type Program } from '../../scripts/stack/packages.ts';
import { root } from '../../scripts/stack/paths.ts';
import { freePort } from '../../scripts/stack/ports.ts';
import { startServer } from '../../scripts/stack/server.ts';
import { reachableFolder, removeFolder, serviceUser } from '../../scripts/stack/service-user.ts';
import { atEnd } from '../support/at-end.ts';
import { startCaddy } from '../support/caddy.ts';
import { startDialler } from '../support/dialler.ts';
import { type Service, startProcess } from '../support/service.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, type Tenant, type TestDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

interface Compose {
  services: Record<
    'redis' | 'api' | 'worker',
    { command: string[]; environment: Record<string, string>; healthcheck: { test: string[] } }
  >;
  secrets: Record<string, { file: string }>;
}

const compose = parse(readFileSync(path.join(root, 'docker-compose.yml'), 'utf8'), { merge: true }) as Compose;
const { redis, api, worker } = compose.services;

/** As Compose does. */
const interpolate = (text: string, variables: Record<string, string>): string =>
  text
    .replace(/\$\{(\w+):(.)(.*?)\}/g, (_, name: string, operator: string, rest: string) => {
      const value = variables[name] || undefined;
      if (operator === '+') return value === undefined ? '' : rest;
      if (value === undefined && operator === '?') throw new Error(`${name}: ${rest}`);
      return value ?? rest;
    })
    .replaceAll('$$', '$');

const makeSecrets = (folder: string, env: Record<string, string> = {}) =>
  spawnSync(path.join(root, 'scripts/make-secrets.sh'), [folder], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...env },
  });

describe('scripts/make-secrets.sh', () => {
  const folder = path.join(mkdtempSync(path.join(inject('folder'), 'made-')), 'secrets');
  const read = () => readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]);

  it('makes what the compose file mounts, in a folder that is its owner’s alone', () => {
    expect(makeSecrets(folder, { JWT_SECRET: 'one of before' })).toMatchObject({ status: 0, stderr: '' });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const mounted = Object.values(compose.secrets).map(({ file }) => interpolate(file, {}));
    const made = mounted.filter((file) => file !== '/dev/null').map((file) => path.basename(file));
    expect(readdirSync(folder).sort()).toEqual(made.sort());
    // other users read them in the containers
    for (const [name = ''] of read()) expect(statSync(path.join(folder, name)).mode & 0o777).toBe(0o644);
    expect(Object.fromEntries(read())).toMatchObject({ 'jwt-secret': 'one of before\n' });
  });

  it('lets the containers read what they mount, in a checkout that its owner alone could read', () => {
    const checkout = mkdtempSync(path.join(inject('folder'), 'closed-'));
    for (const name of ['scripts/make-secrets.sh', 'apps/Caddyfile', 'docs/monitoring'])
      cpSync(path.join(root, name), path.join(checkout, name), { recursive: true });
    const mounted = ['apps/Caddyfile', 'docs/monitoring', 'docs/monitoring/alerts.yml'];
    for (const name of mounted.toReversed()) chmodSync(path.join(checkout, name), name.endsWith('g') ? 0o700 : 0o600);
    expect(spawnSync('scripts/make-secrets.sh', { cwd: checkout }).status).toBe(0);
    const modes = mounted.map((name) => (statSync(path.join(checkout, name)).mode & 0o777).toString(8));
    expect(modes).toEqual(['644', '755', '644']);
  });

  it('keeps what is there', () => {
    const before = read();
    expect(makeSecrets(folder)).toMatchObject({ status: 0, stdout: '' });
    expect(read()).toEqual(before);
  });

  it('lets its owner, who need not be root, write a new password as docs/containers.md says', () => {
    const installation = reachableFolder(mkdtempSync(path.join(inject('folder'), 'owned-')));
    atEnd(() => removeFolder(installation));
    const made = reachableFolder(path.join(installation, 'secrets'));
    makeSecrets(made);
    const user = serviceUser();
    if (user) for (const name of readdirSync(made)) chownSync(path.join(made, name), user.uid, user.gid);
    const page = readFileSync(path.join(root, 'docs/containers.md'), 'utf8');
    const [, command = ''] = /`(echo "requirepass [^`]*)`/.exec(page) ?? [];
    const { status, stderr } = spawnSync('/bin/sh', ['-ec', command], {
      cwd: installation,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, NEW_PASSWORD: 'another' },
      ...user,
    });
    expect([status, stderr]).toEqual([0, '']);
    expect(readFileSync(path.join(made, 'redis.conf'), 'utf8')).toBe('requirepass another\n');
  });

  it('gives the address of a replica the login of the API where it has that of the owner', () => {
    const made = path.join(mkdtempSync(path.join(inject('folder'), 'replica-')), 'secrets');
    const address = 'postgres://assent:of-a-superuser@replica.internal:5432/assent?sslmode=require';
    for (let times = 0; times < 2; times += 1)
      expect(makeSecrets(made, { DATABASE_READ_URL: address })).toMatchObject({ status: 0, stderr: '' });
    const [api, replica] = ['database-api-url', 'database-read-url'].map(
      (name) => new URL(readFileSync(path.join(made, name), 'utf8').trim()),
    );
    expect(replica?.href).toBe(
      `postgres://${api?.username}:${api?.password}@replica.internal:5432/assent?sslmode=require`,
    );
    expect(api?.username).toBe('assent_api_login');
  });

  describe('where an older .env holds secrets', () => {
    const installation = mkdtempSync(path.join(inject('folder'), 'older-'));
    const made = path.join(installation, 'secrets');
    const env = path.join(installation, '.env');
    const secrets = Object.entries<Setting>(settings).flatMap(([name, { secret }]) => (secret ? [name] : []));
    const names = ['POSTGRES_PASSWORD', ...secrets.filter((name) => !['DATABASE_URL', 'REDIS_URL'].includes(name))];
    const secretOf = (name: string) => `p@ss/w#rd:%+=${name}`;

    it('takes over all of them, and the containers are told', () => {
      const quoted = names.map((name, index) => {
        const quote = ['', '"', "'"][index % 3] ?? '';
        return `${name}=${quote}${secretOf(name)}${quote}`;
      });
      writeFileSync(env, ['LOG_NAME=consent.example.com', ...quoted].join('\n'));
      const { status, stdout, stderr } = makeSecrets(made);
      expect([status, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(new RegExp(`remove them from ${env}: ${names[0]} `));
      const after = parseEnv(readFileSync(env, 'utf8')) as Record<string, string>;
      for (const name of names) {
        const secret = name.toLowerCase();
        const file = interpolate(compose.secrets[secret]?.file ?? '', after).replace('./secrets', made);
        expect(readFileSync(file, 'utf8')).toBe(`${secretOf(name)}\n`);
        const told = [api, worker].flatMap(({ environment }) => environment[`${name}_FILE`] ?? []);
        for (const text of told) expect(interpolate(text, after)).toBe(`/run/secrets/${secret}`);
      }
      const { password } = new URL(readFileSync(path.join(made, 'database-url'), 'utf8').trim());
      expect(decodeURIComponent(password)).toBe(secretOf('POSTGRES_PASSWORD'));
    });

    it('changes nothing the second time, and refuses what it cannot know', () => {
      const files = [env, ...readdirSync(made).map((name) => path.join(made, name))];
      const state = () => files.map((file) => readFileSync(file, 'utf8'));
      const before = state();
      expect(makeSecrets(made)).toMatchObject({ status: 0, stderr: '' });
      expect(state()).toEqual(before);
      for (const [line, reason] of [
        ['LOG_KEY=another', `LOG_KEY is not what ${made}/log-key has`],
        ['LOG_KEY="$OTHER"', `LOG_KEY in ${env} cannot be read here`],
      ] as const) {
        writeFileSync(env, `${before[0]}${line}\n`);
        const { status, stderr } = makeSecrets(made);
        expect([status, stderr]).toEqual([1, expect.stringContaining(reason)]);
        expect(state().slice(1)).toEqual(before.slice(1));
      }
    });
  });
});

describe('the services', () => {
  const folder = mkdtempSync(path.join(inject('folder'), 'compose-'));
  const secrets = path.join(folder, 'secrets');
  const processes = new Map<'api' | 'worker', Service>();
  const local = { HOST: '127.0.0.1', PORT: '0', OPS_HOST: '127.0.0.1', OPS_PORT: '0' };
  let stores: Record<string, string>;
  let database: TestDatabase;
  let redisCli: (...args: string[]) => string;

  /** As Compose: the secret's file on this machine, in place of where the container would have it. */
  const environmentOf = (service: { environment: Record<string, string> }, variables: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(service.environment).map(([name, text]) => {
        const value = interpolate(String(text), variables);
        const secret = compose.secrets[value.replace('/run/secrets/', '')];
        return [name, secret ? interpolate(secret.file, variables).replace('./secrets', secrets) : value];
      }),
    );

  const startRedis = async ({ binary, env }: Program) => {
    const conf = path.join(secrets, 'redis.conf');
    const cli = path.join(path.dirname(binary), 'redis-cli');
    const run = (script: string) => spawnSync('/bin/sh', ['-c', script], { env, encoding: 'utf8' });
    const [, ...settings] = redis.command.map((word) => interpolate(word, {}).replace('/run/secrets/redis_conf', conf));
    const server = await startServer({
      name: 'Redis',
      dataDir: folder,
      command: binary,
      argumentsOf: (port) => [...settings, '--port', String(port), '--bind', '127.0.0.1', '--dir', folder],
      tether: { env },
      urlOf: (port) => `127.0.0.1:${port}`,
      probe: async (url) => {
        const [, check = ''] = redis.healthcheck.test;
        const here = interpolate(check, {})
          .replace('/run/secrets/redis_conf', conf)
          .replace('redis-cli', `${cli} -p ${url.split(':')[1]}`);
        const { status, stderr } = run(here);
        if (status !== 0) throw new Error(`the health check fails: ${stderr}`);
      },
    });
    atEnd(server.stop);
    redisCli = (...args) => run(`${cli} -p ${server.port} ${args.join(' ')}`).stdout.trim();
    return server.url;
  };

  beforeAll(async () => {
    makeSecrets(secrets);
    database = await openDatabase();
    const address = await startRedis(await findRedis());
    const url = readFileSync(path.join(secrets, 'redis-url'), 'utf8').replace('redis:6379', address);
    writeFileSync(path.join(folder, 'redis-url'), url);
    writeFileSync(path.join(folder, 'database-url'), `${database.url}\n`);
    // as in .env, for stores that are elsewhere
    stores = {
      DATABASE_API_URL_FILE: path.join(folder, 'database-url'),
      DATABASE_WORKER_URL_FILE: path.join(folder, 'database-url'),
      REDIS_URL_FILE: path.join(folder, 'redis-url'),
      LOG_NAME: 'consent.example.com',
      SEAL_SECONDS: '1',
      TRUSTED_PROXY_HOPS: '1',
    };
    for (const [name, service] of Object.entries({ api, worker }))
      processes.set(name as 'api' | 'worker', startBare(name, { ...environmentOf(service, stores), ...local }));
  });

  /** With nothing else than what the compose file gives. */
  const startBare = (name: string, env: Record<string, string>) =>
    startProcess(name, { ...env, NODE_ENV: 'production' });
  const logged = async (name: 'api' | 'worker', event: string) => {
    const found = await processes.get(name)?.logged(event);
    if (!found) throw new Error(`no ${name}`);
    return found;
  };

  const post = ({ url, certificate: ca }: { url: string; certificate?: string }, { domainIds, apiKeys }: Tenant) =>
    new Promise((resolve, reject) => {
      const headers = {
        'content-type': 'application/json',
        'x-api-key': at(apiKeys, 0),
        'x-forwarded-for': '203.0.113.9',
      };
      const request = ca === undefined ? http.request : https.request;
      const options = { method: 'POST', ca, headers, agent: false };
      request(`${url}/v1/consent/${at(domainIds, 0)}/record`, options, (response) => {
        response.resume();
        resolve([response.statusCode, response.headers['alt-svc']]);
      })
        .on('error', reject)
        .end('{"decision":"custom"}');
    });

  it('Redis wants the password, and has it in no argument', () => {
    expect(redisCli('ping')).toMatch(/^NOAUTH/);
    expect(redis.command.join(' ')).not.toContain('requirepass');
  });

  it.each([
    ['api', 'listening', 3001],
    ['worker', 'working', 3002],
  ] as const)('%s starts with secrets from files, and its health check sees it', async (name, event, port) => {
    const { opsPort } = await logged(name, event);
    const [, command = '', ...args] = compose.services[name].healthcheck.test;
    const here = args.map((arg) => arg.replace(`:${port}/`, `:${opsPort}/`));
    expect(here).not.toEqual(args);
    await eventually(() => expect(spawnSync(command, here).status).toBe(0));
  });

  it('the proxy ends TLS, and nobody can pretend to another address', async () => {
    const { port } = await logged('api', 'listening');
    const caddy = await startCaddy(path.join(folder, 'caddy'), String(port));
    const tenant = await makeTenant(database.db);
    const domainId = at(tenant.domainIds, 0);
    // nothing is promised by UDP
    expect(await post(caddy, tenant)).toEqual([202, undefined]);
    const { organizationId } = tenant;
    await eventually(async () => {
      const { records } = await database.db.run((sql) =>
        readPage(sql, { organizationId, domainId, limit: 1, offset: 0 }),
      );
      expect(records).toMatchObject([{ ip: '127.0.0.0' }]);
    });
    // by its name it is never asked without TLS again
    const strictAt = (host: string) =>
      new Promise((resolve, reject) => {
        const { port: tlsPort } = new URL(caddy.url);
        const options = { port: tlsPort, ca: caddy.certificate, servername: host, headers: { host }, agent: false };
        https
          .get({ host: '127.0.0.1', path: '/docs', ...options }, (response) => {
            response.resume();
            resolve(response.headers['strict-transport-security']);
          })
          .on('error', reject);
      });
    expect(await Promise.all(['assent.local', 'localhost'].map(strictAt))).toEqual(['max-age=31536000', undefined]);
    const plain = await fetch(`${caddy.plainUrl}/docs`, { redirect: 'manual' });
    expect([plain.status, plain.headers.get('location')]).toEqual([308, expect.stringMatching(/^https:/)]);
  });

  it('a POST is tried again where one address refuses: by Caddy 2.11.2 and newer, while older ones answer 502', async () => {
    const { port } = await logged('api', 'listening');
    const caddy = await startCaddy(path.join(folder, 'caddy-of-two'), String(await freePort()), String(port));
    const tenant = await makeTenant(database.db);
    const responses = await Promise.all(Array.from({ length: 40 }, () => post(caddy, tenant)));
    const isNew = caddy.version.localeCompare('2.11.2', 'en', { numeric: true }) >= 0;
    expect(new Set(responses.map(String))).toEqual(new Set(isNew ? ['202,'] : ['202,', '502,']));
  });

  it('API processes that are replaced one after the other, each on its port, refuse nothing behind a proxy that tries again', async () => {
    const tenant = await makeTenant(database.db);
    const startOn = async (port: number) => {
      const fresh = startBare('api', { ...environmentOf(api, stores), ...local, PORT: String(port) });
      await fresh.logged('listening');
      return fresh;
    };
    const ports = await Promise.all([freePort(), freePort()]);
    const running = await Promise.all(ports.map(startOn));
    const proxy = await startDialler(ports);
    const responses: unknown[] = [];
    let isReplacing = true;
    const load = async () => {
      while (isReplacing) {
        responses.push(await post(proxy, tenant).catch(String));
        await sleep(50);
      }
    };
    const loading = load();
    for (const [index, port] of ports.entries()) {
      await running[index]?.stop();
      await startOn(port);
    }
    isReplacing = false;
    await loading;
    expect(responses.length).toBeGreaterThan(10);
    expect(responses.filter((answer) => String(answer) !== '202,')).toEqual([]);
  });
});
