import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { settings } from '#libs/config/settings';
import { nodeFlags } from '../../scripts/stack/assent-process.ts';
import { root } from '../../scripts/stack/paths.ts';
import { maxmemory } from '../../scripts/stack/redis.ts';

interface Service {
  image?: string;
  command?: string | string[];
  environment?: Record<string, string>;
  healthcheck?: object;
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
}

const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
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

/** What no container is told: how it is reached inside, and what is only for trials. */
const fixed = ['OPS_HOST', 'NODE_ENV', 'DEMO_DOMAIN', 'DEMO_API_KEY'];
/** The command line runs in the API's container. */
const readBy = { api: ['api', 'cli'], worker: ['worker'] };

/** Bytes. */
const size = (text = ''): number => {
  const [, value, number = '', unit = ''] = /^(?:\$\{\w+:-)?((\d+)(kb|mb|gb))\}?$/.exec(text) ?? [];
  if (value === undefined) throw new Error(`${text} is no size`);
  return Number(number) * 1_024 ** (['kb', 'mb', 'gb'].indexOf(unit) + 1);
};

describe('docker-compose.yml', () => {
  it('has the stores, the migration and the processes', () => {
    expect(Object.keys(compose.services).sort()).toEqual(['api', 'migrate', 'postgres', 'proxy', 'redis', 'worker']);
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
    expect(read('.gitignore')).toMatch(/^secrets\/$/m);
    expect(read('.dockerignore')).toMatch(/^secrets$/m);
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
    const [, limit] = /--maxmemory (\S+)/.exec(String(service('redis').command)) ?? [];
    expect(size(service('redis').mem_limit)).toBeGreaterThanOrEqual(2 * size(limit));
  });

  it('Redis keeps what it acknowledges', () => {
    expect(service('redis').command).toMatch(/--appendonly yes --appendfsync always --maxmemory-policy noeviction/);
  });

  it('Redis stops taking records before it has taken all memory, at what npm start sets unless told otherwise', () => {
    expect(service('redis').command).toContain(` --maxmemory \${REDIS_MAXMEMORY:-${maxmemory}} `);
    expect(read('docs/operations.md')).toContain(`\`REDIS_MAXMEMORY\` (${maxmemory})`);
  });

  it('images are pinned to a version', () => {
    for (const { image } of Object.values(compose.services)) expect(image).toMatch(/:\d+\.\d+[\w.-]*$/);
    for (const [, image] of read('apps/Dockerfile').matchAll(/^FROM (\S+)/gm))
      expect(image).toMatch(/:\d+\.\d+[\w.-]*$/);
  });

  it('every process that stays has a health check, and waits for what it needs', () => {
    for (const name of ['postgres', 'redis', 'api', 'worker', 'proxy']) expect(service(name).healthcheck).toBeDefined();
    for (const name of ['api', 'worker']) {
      expect(service(name).depends_on).toMatchObject({
        migrate: { condition: 'service_completed_successfully' },
        redis: { condition: 'service_healthy' },
      });
    }
  });

  it('any number of workers and API processes can run: no fixed name, no port that is taken', () => {
    for (const name of ['api', 'worker']) expect(service(name).container_name).toBeUndefined();
    expect(service('worker').ports).toBeUndefined();
    // as many as there are ports, and on this machine alone
    expect(service('api').ports).toEqual([expect.stringMatching(/^\$\{API_PORTS:-127\.0\.0\.1:3000-3009\}:3000$/)]);
  });

  it('the proxy is there where it is asked for', () => {
    expect(service('proxy').profiles).toEqual(['tls']);
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
