/** What docker-compose.yml starts, as far as it runs without a container engine: secrets, Redis, API, worker, proxy. */
import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { parse } from 'yaml';
import { type Setting, settings } from '#libs/config/settings';
import { readPage } from '#libs/store/records/log';
import { findRedis, type Program } from '../../scripts/stack/packages.ts';
import { root } from '../../scripts/stack/paths.ts';
import { startServer } from '../../scripts/stack/server.ts';
import { reachableFolder, removeFolder, serviceUser } from '../../scripts/stack/service-user.ts';
import { atEnd } from '../support/at-end.ts';
import { startCaddy } from '../support/caddy.ts';
import { type Service, startProcess } from '../support/service.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, type TestDatabase } from '../support/stores.ts';
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

/** Redis' command, where the container may have so much memory: a number of bytes, or `max`. */
const redisCommand = (folder: string, limit: string, variables: Record<string, string> = {}): string[] => {
  const file = path.join(folder, 'memory.max');
  writeFileSync(file, `${limit}\n`);
  return redis.command.map((word) => interpolate(word, variables).replaceAll('/sys/fs/cgroup/memory.max', file));
};

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
    const mounted = Object.values(compose.secrets).map(({ file }) => path.basename(interpolate(file, {})));
    expect(readdirSync(folder).sort()).toEqual([...new Set(mounted)].sort());
    // other users read them in the containers
    for (const [name = ''] of read()) expect(statSync(path.join(folder, name)).mode & 0o777).toBe(0o644);
    expect(Object.fromEntries(read())).toMatchObject({ 'jwt-secret': 'one of before\n' });
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

describe('Redis with a maxmemory', () => {
  const gigabyte = 1_024 ** 3;
  const start = (REDIS_MAXMEMORY: string, limit: string) => {
    const [shell = '', flags = '', script = ''] = redisCommand(inject('folder'), limit, { REDIS_MAXMEMORY });
    return spawnSync(shell, [flags, script.replace('exec redis-server', 'echo')], { encoding: 'utf8' });
  };

  it.each([
    ['', 2 * gigabyte],
    ['4gb', 8 * gigabyte],
    ['900MB', 2 * gigabyte],
    ['1g', 2 * gigabyte],
    ['1073741824', 2 * gigabyte],
    ['100gb', 'max'],
    // which Redis refuses
    ['much', 2 * gigabyte],
  ])('of %s starts in a container that may have %s', (maxmemory, limit) => {
    const { status, stdout, stderr } = start(maxmemory, String(limit));
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain(` --maxmemory ${maxmemory || '1gb'} --save \n`);
  });

  it.each([
    ['', gigabyte],
    ['4gb', 2 * gigabyte],
    ['1025mb', 2 * gigabyte],
    ['1100M', 2 * gigabyte],
    ['1048577Kb', 2 * gigabyte],
    ['1100000k', 2 * gigabyte],
    ['2G', 2 * gigabyte],
    ['1073741825', 2 * gigabyte],
    // no maxmemory at all
    ['0', 2 * gigabyte],
  ])('of %s is refused in a container that may have %s', (maxmemory, limit) => {
    const { status, stdout, stderr } = start(maxmemory, String(limit));
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      `REDIS_MAXMEMORY is ${maxmemory || '1gb'}, and may be at most half of REDIS_MEMORY, which is ${limit} bytes\n`,
    );
  });
});

describe('the services', () => {
  const folder = mkdtempSync(path.join(inject('folder'), 'compose-'));
  const secrets = path.join(folder, 'secrets');
  const processes = new Map<'api' | 'worker', Service>();
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
    const [shell = '', ...script] = redisCommand(folder, String(2 * 1_024 ** 3)).map((word) =>
      word
        .replace('/run/secrets/redis_conf', conf)
        .replace('exec redis-server', `exec ${binary}`)
        .replace('--save', `--port "$1" --bind 127.0.0.1 --dir ${folder} --save`),
    );
    const server = await startServer({
      name: 'Redis',
      dataDir: folder,
      command: shell,
      argumentsOf: (port) => [...script, 'redis', String(port)],
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
    const variables = {
      DATABASE_URL_FILE: path.join(folder, 'database-url'),
      REDIS_URL_FILE: path.join(folder, 'redis-url'),
      LOG_NAME: 'consent.example.com',
      SEAL_SECONDS: '1',
      TRUSTED_PROXY_HOPS: '1',
    };
    const local = { HOST: '127.0.0.1', PORT: '0', OPS_HOST: '127.0.0.1', OPS_PORT: '0' };
    for (const [name, service] of Object.entries({ api, worker }))
      processes.set(name as 'api' | 'worker', startBare(name, { ...environmentOf(service, variables), ...local }));
  });

  /** With nothing else than what the compose file gives. */
  const startBare = (name: string, env: Record<string, string>) =>
    startProcess(name, { ...env, NODE_ENV: 'production' });
  const logged = async (name: 'api' | 'worker', event: string) => {
    const found = await processes.get(name)?.logged(event);
    if (!found) throw new Error(`no ${name}`);
    return found;
  };

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
    atEnd(caddy.stop);
    const tenant = await makeTenant(database.db);
    const [domainId, apiKey] = [at(tenant.domainIds, 0), at(tenant.apiKeys, 0)];
    const headers = { 'content-type': 'application/json', 'x-api-key': apiKey, 'x-forwarded-for': '203.0.113.9' };
    const answer = await new Promise((resolve, reject) => {
      const url = `${caddy.url}/v1/consent/${domainId}/record`;
      request(url, { method: 'POST', ca: caddy.certificate, headers }, (response) => {
        response.resume();
        resolve([response.statusCode, response.headers['alt-svc']]);
      })
        .on('error', reject)
        .end('{"decision":"custom"}');
    });
    // nothing is promised by UDP
    expect(answer).toEqual([202, undefined]);
    const { organizationId } = tenant;
    await eventually(async () => {
      const { records } = await database.db.run((sql) =>
        readPage(sql, { organizationId, domainId, limit: 1, offset: 0 }),
      );
      expect(records).toMatchObject([{ ip: '127.0.0.0' }]);
    });
    const plain = await fetch(`${caddy.plainUrl}/docs`, { redirect: 'manual' });
    expect([plain.status, plain.headers.get('location')]).toEqual([308, expect.stringMatching(/^https:/)]);
  });
});
