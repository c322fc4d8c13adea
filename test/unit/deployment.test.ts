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
}

const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const compose = parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, Service> };
const service = (name: string): Service => {
  const found = compose.services[name];
  if (!found) throw new Error(`docker-compose.yml lacks ${name}`);
  return found;
};
const known = new Map(Object.entries<{ default?: string; about: string; for: string[] }>(settings));
const ours = ['migrate', 'api', 'worker'] as const;

describe('docker-compose.yml', () => {
  it('has the stores, the migration and the processes', () => {
    expect(Object.keys(compose.services).sort()).toEqual(['api', 'migrate', 'postgres', 'redis', 'worker']);
  });

  it.each(ours)('%s gets only variables that the configuration knows', (name) => {
    for (const variable of Object.keys(service(name).environment ?? {}))
      expect(Object.keys(settings)).toContain(variable);
  });

  it.each([
    ['api', ['DATABASE_URL', 'REDIS_URL', 'JWT_SECRET', 'HOST', 'PORT']],
    ['worker', ['DATABASE_URL', 'REDIS_URL']],
    ['migrate', ['DATABASE_URL']],
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

  it('holds no secret: those come from the environment and have no default', () => {
    expect(service('api').environment?.JWT_SECRET).toMatch(/^\$\{JWT_SECRET:\?/);
    expect(service('postgres').environment?.POSTGRES_PASSWORD).toMatch(/^\$\{POSTGRES_PASSWORD:\?/);
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
    for (const name of ['postgres', 'redis', 'api', 'worker']) expect(service(name).healthcheck).toBeDefined();
    for (const name of ['api', 'worker']) {
      expect(service(name).depends_on).toMatchObject({
        migrate: { condition: 'service_completed_successfully' },
        redis: { condition: 'service_healthy' },
      });
    }
  });

  it('any number of workers can run: no fixed name, no published port', () => {
    expect(service('worker').container_name).toBeUndefined();
    expect(service('worker').ports).toBeUndefined();
  });
});

describe('docs/operations.md', () => {
  it.each([...known])('tells of %s what the configuration does', (name, setting) => {
    expect(read('docs/operations.md')).toContain(
      `| \`${name}\` | ${setting.default ?? ''} | ${setting.for.join(', ')} | ${setting.about} |`,
    );
  });

  it('tells of no other setting', () => {
    const told = [...read('docs/operations.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name]) => name);
    expect(told).toEqual([...known.keys()]);
  });
});
