import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { settings } from '#libs/config/settings';
import { nodeFlags } from '../../scripts/stack/assent-process.ts';
import { root } from '../../scripts/stack/paths.ts';
import { maxmemory } from '../../scripts/stack/redis.ts';
import { blocksIn, blocksOf, sectionOf } from '../support/documents.ts';

interface Service {
  image?: string;
  build?: { context: string; dockerfile: string };
  pull_policy?: string;
  command?: string | string[];
  environment?: Record<string, string>;
  healthcheck?: object;
  stop_grace_period?: string;
  depends_on?: Record<string, { condition: string }>;
  container_name?: string;
  ports?: string[];
  profiles?: string[];
  secrets?: string[];
  mem_limit?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  logging?: { options: Record<string, string> };
  networks?: string[];
  deploy?: { replicas: string };
  volumes?: string[];
}

const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
  networks: Record<string, unknown>;
};
const service = (name: string): Service => {
  const found = compose.services[name];
  if (!found) throw new Error(`docker-compose.yml lacks ${name}`);
  return found;
};
const known = new Map(Object.entries<{ default?: string; about: string; for: string[]; secret?: boolean }>(settings));
const ours = ['migrate', 'api', 'worker'] as const;
const settingOf = (variable: string): string => {
  const name = variable.replace(/_FILE$/, '');
  return known.get(name)?.secret ? name : variable;
};

/** What no container is told: what the image has, and what is only for trials. */
const fixed = ['NODE_ENV', 'DEMO_DOMAIN', 'DEMO_API_KEY'];
/** The command line runs in the API's container, and in one of `migrate`. */
const readBy = { api: ['api', 'cli'], migrate: ['cli'], worker: ['worker'] };

/** Bytes. */
const size = (text = ''): number => {
  const [, value, number = '', unit = ''] = /^(?:\$\{\w+:-)?((\d+)(kb|mb|gb))\}?$/.exec(text) ?? [];
  if (value === undefined) throw new Error(`${text} is no size`);
  return Number(number) * 1_024 ** (['kb', 'mb', 'gb'].indexOf(unit) + 1);
};

describe('docker-compose.yml', () => {
  it('has the stores, the migration and the processes', () => {
    expect(Object.keys(compose.services).sort()).toEqual([
      'api',
      'migrate',
      'postgres',
      'prometheus',
      'proxy',
      'redis',
      'worker',
    ]);
  });

  it.each(ours)('%s gets only variables that the configuration knows', (name) => {
    for (const variable of Object.keys(service(name).environment ?? {}))
      expect(Object.keys(settings)).toContain(settingOf(variable));
  });

  it.each(Object.entries(readBy))('%s can be told every setting that is read there', (name, readers) => {
    const told = Object.keys(service(name).environment ?? {}).map(settingOf);
    const read = [...known].filter(([, setting]) => setting.for.some((reader) => readers.includes(reader)));
    const missing = read.map(([setting]) => setting).filter((setting) => !told.includes(setting));
    expect(missing.filter((setting) => !fixed.includes(setting))).toEqual([]);
  });

  it.each([
    ['api', ['DATABASE_URL_FILE', 'REDIS_URL_FILE', 'JWT_SECRET_FILE', 'HOST', 'PORT']],
    ['worker', ['DATABASE_URL_FILE', 'REDIS_URL_FILE', 'LOG_KEY_FILE', 'LOG_NAME']],
    ['migrate', ['DATABASE_URL_FILE']],
  ])('%s gets what it cannot start without', (name, required) => {
    expect(Object.keys(service(name).environment ?? {})).toEqual(expect.arrayContaining(required));
  });

  it('a command has the same settings in both containers', () => {
    const { environment = {} } = service('api');
    expect(environment).toMatchObject(service('migrate').environment ?? {});
  });

  it('defaults that it repeats are the defaults of the configuration', () => {
    for (const name of ours) {
      for (const [variable, value] of Object.entries(service(name).environment ?? {})) {
        const [, repeated] = /^\$\{\w+:-(.*)\}$/.exec(value) ?? [];
        const setting = known.get(variable);
        if (repeated !== undefined) expect(`${variable}=${repeated}`).toBe(`${variable}=${setting?.default ?? ''}`);
      }
    }
  });

  it.each(['api', 'worker'])('%s has the same flags of Node as npm run, npm start and the image', (name) => {
    const command = ['node', ...nodeFlags, `dist/apps/${name}/main.js`];
    expect(service(name).command).toEqual(command);
    expect(JSON.parse(read('package.json')).scripts[name]).toMatch(new RegExp(`exec ${command.join(' ')}$`));
    if (name === 'api')
      expect(read('apps/Dockerfile')).toContain(`CMD ${JSON.stringify(command).replaceAll(',', ', ')}`);
  });

  it('hands over every secret as a file that the container has, and others do not', () => {
    for (const name of ours) {
      const { environment = {}, secrets = [] } = service(name);
      const given = Object.entries(environment).filter(([variable]) => known.get(settingOf(variable))?.secret);
      for (const [variable, value] of given) {
        const secret = settingOf(variable).toLowerCase();
        expect([`/run/secrets/${secret}`, `\${${variable}:+/run/secrets/${secret}}`]).toContain(value);
        expect(secrets).toContain(secret);
        // who gives a path of a file of theirs gives it by the name of the variable
        const { file } = compose.secrets[secret] ?? { file: '' };
        expect(file).toMatch(new RegExp(`^\\$\\{${variable}:-\\./secrets/[a-z-]+\\}$`));
      }
      expect(secrets.toSorted()).toEqual(given.map(([variable]) => settingOf(variable).toLowerCase()).sort());
    }
    expect(service('postgres').environment?.POSTGRES_PASSWORD_FILE).toBe('/run/secrets/postgres_password');
  });

  it.each(['secrets', 'backup'])('%s/ gets into no commit and no image', (folder) => {
    expect(read('docs/containers.md')).toContain(` ${folder}/`);
    expect(read('.gitignore')).toMatch(new RegExp(`^${folder}/$`, 'm'));
    expect(read('.dockerignore')).toMatch(new RegExp(`^${folder}$`, 'm'));
  });

  it.each(Object.keys(compose.services))('%s may do and take no more than it needs', (name) => {
    const { read_only, cap_drop, security_opt, logging, mem_limit } = service(name);
    expect({ read_only, cap_drop, security_opt }).toEqual({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(logging?.options).toHaveProperty('max-size');
    expect(size(mem_limit)).toBeGreaterThan(0);
  });

  it('Redis may use twice its maxmemory, as a rewrite of its file can', () => {
    const [, limit] = /maxmemory="(\S+)"/.exec(String(service('redis').command)) ?? [];
    expect(size(service('redis').mem_limit)).toBeGreaterThanOrEqual(2 * size(limit));
  });

  it('Postgres has connections for four API containers, while they are replaced, and four workers', () => {
    const [, connections] =
      /max_connections=\$\{POSTGRES_CONNECTIONS:-(\d+)\}$/.exec(String(service('postgres').command)) ?? [];
    const [, ofApi, ofWorker, ofCommand] =
      /API process has up to (\d+), a worker (\d+), a command (\d+)/.exec(read('docs/containers.md'))?.map(Number) ??
      [];
    const needed = 2 * 4 * Number(ofApi) + 4 * Number(ofWorker) + Number(ofCommand);
    expect(needed).toBeGreaterThan(100);
    // and for those who look
    expect(Number(connections)).toBeGreaterThanOrEqual(needed + 20);
  });

  it('Redis keeps what it acknowledges', () => {
    expect(String(service('redis').command)).toMatch(
      /--appendonly yes --appendfsync always --maxmemory-policy noeviction/,
    );
  });

  it('Redis stops taking records before it has taken all memory, at what npm start sets unless told otherwise', () => {
    const command = String(service('redis').command);
    expect(command).toContain(`maxmemory="\${REDIS_MAXMEMORY:-${maxmemory}}"`);
    expect(command).toContain(' --maxmemory "$$maxmemory" ');
    expect(read('docs/operations.md')).toContain(`\`REDIS_MAXMEMORY\` (${maxmemory})`);
  });

  it('images are pinned to a version', () => {
    for (const { image } of Object.values(compose.services)) expect(image).toMatch(/:v?\d+\.\d+[\w.-]*$/);
    for (const [, image] of read('apps/Dockerfile').matchAll(/^FROM (\S+)/gm))
      expect(image).toMatch(/:\d+\.\d+[\w.-]*$/);
  });

  it('Redis has the fix of CVE-2025-49844, by which whoever may run scripts ran anything', () => {
    const [, patch] = /^redis:7\.4\.(\d+)-/.exec(service('redis').image ?? '') ?? [];
    expect(Number(patch)).toBeGreaterThanOrEqual(6);
  });

  it('the image is built once, by the service that the others wait for, and is pulled from nowhere', () => {
    const builders = Object.keys(compose.services).filter((name) => service(name).build);
    expect(builders).toEqual(['migrate']);
    const { image, build } = service('migrate');
    expect(build).toEqual({ context: '.', dockerfile: 'apps/Dockerfile' });
    for (const name of ours) expect(service(name)).toMatchObject({ image, pull_policy: 'never' });
  });

  it('every process that stays has a health check, and waits for what it needs', () => {
    for (const name of ['postgres', 'redis', 'api', 'worker', 'proxy', 'prometheus'])
      expect(service(name).healthcheck).toBeDefined();
    expect(service('migrate').depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    // while the image makes a database, its server answers on the socket only
    expect(service('postgres').healthcheck).toMatchObject({
      test: ['CMD-SHELL', expect.stringMatching(/ -h 127\.0\.0\.1 /)],
    });
    for (const name of ['api', 'worker']) {
      expect(service(name).depends_on).toMatchObject({
        migrate: { condition: 'service_completed_successfully' },
        redis: { condition: 'service_healthy' },
      });
    }
  });

  it('the stores may take their time to start, and Postgres to stop', () => {
    // in its start period a container is not given up, and the first good answer ends it
    for (const name of ['postgres', 'redis'])
      expect(service(name).healthcheck).toMatchObject({ start_period: '10m', interval: '5s' });
    expect(service('postgres').stop_grace_period).toBe('60s');
  });

  it('any number of workers and API processes can run: no fixed name, no port that is taken', () => {
    for (const name of ['api', 'worker']) expect(service(name).container_name).toBeUndefined();
    expect(service('worker').ports).toBeUndefined();
    // as many as there are ports, and on this machine alone
    expect(service('api').ports).toEqual([expect.stringMatching(/^\$\{API_PORTS:-127\.0\.0\.1:3000-3009\}:3000$/)]);
    // in .env, so that no `up` goes back to one
    expect(service('api').deploy?.replicas).toMatch(/^\$\{API_REPLICAS:-1\}$/);
    expect(service('worker').deploy?.replicas).toMatch(/^\$\{WORKER_REPLICAS:-1\}$/);
  });

  it('the proxy and Prometheus are there where they are asked for', () => {
    expect(service('proxy').profiles).toEqual(['tls']);
    expect(service('prometheus').profiles).toEqual(['monitoring']);
  });

  it('the proxy reaches the API alone, and nothing but proxy and API is open to other machines', () => {
    const on = (network: string) =>
      Object.keys(compose.services).filter((name) => service(name).networks?.includes(network));
    expect(on('front').sort()).toEqual(['api', 'proxy']);
    expect(on('back').sort()).toEqual(['api', 'migrate', 'postgres', 'prometheus', 'redis', 'worker']);
    expect(Object.keys(compose.networks)).toEqual(['front', 'back']);
    const open = Object.keys(compose.services).filter((name) =>
      service(name).ports?.some((port) => !port.includes('127.0.0.1')),
    );
    expect(open).toEqual(['proxy']);
  });

  it('the proxy takes no IPv6 through a network that has none, where all visitors would have one address', () => {
    expect(service('proxy').ports).toEqual(['0.0.0.0:80:80', '0.0.0.0:443:443']);
    const [text = '{}'] = blocksIn('docs/containers.md', sectionOf('docs/containers.md', '### IPv6')).map(
      (block) => block.text,
    );
    // the proxy also looks the API up by IPv6 then
    expect(parse(text)).toEqual({
      services: { proxy: { ports: ['[::]:80:80', '[::]:443:443'] }, api: { environment: { HOST: '::' } } },
      networks: { front: { enable_ipv6: true } },
    });
  });

  it('Prometheus finds every API and worker at its operations port, by the job names of the alerts', () => {
    const { volumes = [], command = [] } = service('prometheus');
    expect(volumes).toContain('./docs/monitoring:/etc/prometheus:ro');
    expect(command).toContain('--config.file=/etc/prometheus/prometheus.compose.yml');
    const config = (name: string) =>
      parse(read(`docs/monitoring/${name}`)) as { scrape_configs: { job_name: string }[] };
    const jobs = config('prometheus.compose.yml').scrape_configs;
    expect(jobs.map((job) => job.job_name)).toEqual(config('prometheus.yml').scrape_configs.map((job) => job.job_name));
    expect(jobs).toEqual(
      ['api', 'worker'].map((name) => {
        const { OPS_HOST, OPS_PORT: port } = service(name).environment ?? {};
        expect(OPS_HOST).toBe('0.0.0.0');
        return {
          job_name: `assent-${name}`,
          dns_sd_configs: [{ names: [name], type: 'A', port, refresh_interval: '15s' }],
        };
      }),
    );
  });
});

describe('docs/containers.md', () => {
  const page = 'docs/containers.md';
  const lines = blocksOf(page).flatMap(({ language, text }) => (language === 'sh' ? text.split('\n') : []));

  it('has commands that a shell can read', () => {
    const { status, stderr } = spawnSync('/bin/sh', ['-n'], { input: lines.join('\n'), encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it('names services and variables that the compose file has', () => {
    const file = read('docker-compose.yml');
    const services = lines.flatMap((line) => {
      const [, , , ...words] = /docker compose [^#)]*/.exec(line)?.[0].split(/ +/) ?? [];
      return words.find((word) => /^\w+$/.test(word)) ?? [];
    });
    expect(services.length).toBeGreaterThan(10);
    expect(services.filter((name) => !(name in compose.services))).toEqual([]);
    const variables = [...read(page).matchAll(/`([A-Z]+_[A-Z_]+)(?:=[^`]*)?`/g)].map(([, name = '']) => name);
    const has = (name: string) => file.includes(name) || known.has(settingOf(name));
    expect(variables.filter((name) => !has(name))).toEqual([]);
  });

  it('makes every container anew that may have another secret: Compose looks neither into its file nor at its path', () => {
    const starts = lines.filter((line) => /docker compose up .*\b(api|worker)\b/.test(line));
    expect(starts.length).toBeGreaterThan(2);
    // beside the old containers, or in their place
    expect(starts.filter((line) => !/ --(no|force)-recreate /.test(line))).toEqual([]);
  });

  describe('replaces the API one after the other', () => {
    const [{ text = '' } = {}] = blocksIn(page, sectionOf(page, '## Change something, one after the other'));
    /** `docker` says what it was told; `up` ends with this status. */
    const replace = (running: string[], status = 0) => {
      const docker = `docker() {
        case "$*" in
          'compose ps --quiet api') printf '%s\\n' ${running.join(' ')} ;;
          *' api') echo "$*"; return ${status} ;;
          *) echo "$*" ;;
        esac
      }
      sleep() { :; }
      `;
      const { stdout } = spawnSync('/bin/sh', ['-c', docker + text], { encoding: 'utf8' });
      return stdout.trim().split('\n');
    };

    it.each([1, 4])('where there are %i: as many new ones, and then none of the old ones', (count) => {
      const running = Array.from({ length: count }, (_, index) => `old-${index}`);
      const said = replace(running);
      expect(said).toContain(`compose up -d --no-deps --no-recreate --wait --scale api=${2 * count} api`);
      expect(said.filter((line) => /^(stop|rm) /.test(line))).toEqual(
        running.flatMap((name) => [`stop ${name}`, `rm ${name}`]),
      );
    });

    it('and leaves the old ones alone if the new ones do not become ready', () => {
      expect(replace(['old'], 1).filter((line) => /^(stop|rm) /.test(line))).toEqual([]);
    });
  });

  it('has files beside the compose file that are about its services', () => {
    const overrides = blocksOf(page).filter(({ language }) => language === 'yaml');
    expect(overrides.length).toBeGreaterThan(1);
    for (const { text } of overrides) {
      const { services } = parse(text) as { services: Record<string, unknown> };
      expect(Object.keys(services).filter((name) => !(name in compose.services))).toEqual([]);
    }
  });

  it('loses no setting of Postgres where it gives another command', () => {
    const settingsIn = (command: string | string[] = '') =>
      [command]
        .flat()
        .join(' ')
        .match(/\w+=\S+/g) ?? [];
    const commands = blocksOf(page).flatMap(({ language, text }) =>
      language === 'yaml' ? ((parse(text).services?.postgres?.command as string[] | undefined) ?? []) : [],
    );
    expect(settingsIn(service('postgres').command)).toHaveLength(2);
    expect(settingsIn(commands)).toEqual(expect.arrayContaining(settingsIn(service('postgres').command)));
  });

  it('tells which versions the images have, of which none was tried', () => {
    const rows = [...sectionOf(page, '## What was tried').matchAll(/^\| ([A-Z]\w+) \| [\d.]+ \| ([\d.]+) \|$/gm)];
    const [, ofNode] = /^FROM node:([\d.]+)/m.exec(read('apps/Dockerfile')) ?? [];
    const versionOf = (name: string) => /:v?([\d.]+)/.exec(service(name).image ?? '')?.[1];
    expect(rows.map(([, name, version]) => [name, version])).toEqual([
      ['Node', ofNode],
      ['Postgres', versionOf('postgres')],
      ['Redis', versionOf('redis')],
      ['Caddy', versionOf('proxy')],
      ['Prometheus', versionOf('prometheus')],
    ]);
  });

  it('overwrites no .env', () => {
    for (const text of [read(page), read('docs/operations.md'), read('docker-compose.yml')])
      expect(text).not.toMatch(/[^>]> *\.env/);
  });
});

describe('docs/operations.md', () => {
  it.each([...known])('tells of %s what the configuration does', (name, setting) => {
    expect(read('docs/operations.md')).toContain(
      `| \`${name}\` | ${setting.default ?? ''} | ${setting.for.join(', ')} | ${setting.about} |`,
    );
  });

  it('tells which settings are secrets', () => {
    const names = [...known].filter(([, { secret }]) => secret).map(([name]) => `\`${name}\``);
    expect(read('docs/operations.md')).toContain(`Secrets are: ${names.join(', ')}.`);
  });

  it('tells of no other setting', () => {
    const told = [...read('docs/operations.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name]) => name);
    expect(told).toEqual([...known.keys()]);
  });
});
