import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { settings } from '../../apps/settings/settings.ts';
import { nodeFlags } from '../../scripts/stack/assent-process.ts';
import { maxmemory } from '../../scripts/stack/redis.ts';
import { blocksIn, blocksOf, readPage as read, sectionOf } from '../support/documents.ts';

/** What is read of it below; the rest is only compared. */
interface Service {
  image?: string;
  build?: object;
  command?: string | string[];
  environment?: Record<string, string>;
  ports?: string[];
  secrets?: (string | { source: string; target: string })[];
  mem_limit?: string;
  volumes?: string[];
  dns_opt?: string[];
  networks?: string[] | Record<string, { aliases: string[] } | null>;
}

const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
  networks: Record<string, { internal?: boolean } | null>;
};
const service = (name: string): Service => {
  const found = compose.services[name];
  if (!found) throw new Error(`docker-compose.yml lacks ${name}`);
  return found;
};
const known = new Map(Object.entries<{ default?: string; about: string; for: string[]; secret?: boolean }>(settings));
const settingOf = (variable: string): string => {
  const name = variable.replace(/_FILE$/, '');
  return known.get(name)?.secret ? name : variable;
};
const environmentOf = (name: string) => Object.entries(service(name).environment ?? {});
const networksOf = ({ networks = [] }: Service) => (Array.isArray(networks) ? networks : Object.keys(networks));
const servicesWith = (test: (service: Service) => unknown) =>
  Object.keys(compose.services).filter((name) => test(service(name)));

/** What no container is told: what the image has, and what is only for trials. */
const fixed = ['NODE_ENV', 'DEMO_DOMAIN', 'DEMO_API_KEY'];
/** The command line runs in a container of `migrate`. */
const readBy = { migrate: ['cli'], api: ['api'], worker: ['worker'] };
const ours = Object.keys(readBy);

/** Bytes. */
const size = (text = ''): number => {
  const [, value, number = '', unit = ''] = /^(?:\$\{\w+:-)?((\d+)(kb|mb|gb))\}?$/.exec(text) ?? [];
  if (value === undefined) throw new Error(`${text} is no size`);
  return Number(number) * 1_024 ** (['kb', 'mb', 'gb'].indexOf(unit) + 1);
};

describe('docker-compose.yml', () => {
  it.each(Object.entries(readBy))('%s gets the settings that are read there, and only known ones', (name, readers) => {
    const told = environmentOf(name).map(([variable]) => settingOf(variable));
    expect(told.filter((setting) => !known.has(setting))).toEqual([]);
    const read = [...known].filter(([, setting]) => setting.for.some((reader) => readers.includes(reader)));
    const missing = read.map(([setting]) => setting).filter((setting) => !told.includes(setting));
    expect(missing.filter((setting) => !fixed.includes(setting))).toEqual([]);
  });

  it('only the one that migrates has the address of who owns the database, and makes the logins of the others', () => {
    const having = (secret: string) => servicesWith(({ secrets }) => secrets?.includes(secret));
    expect(having('database_url')).toEqual(['migrate']);
    expect(having('postgres_password')).toEqual(['postgres']);
    expect(having('database_api_url')).toEqual(['migrate', 'api']);
    expect(having('database_worker_url')).toEqual(['migrate', 'worker']);
  });

  it('a command has the settings of the API', () => {
    const ofApi = service('api').environment ?? {};
    const ofBoth = Object.entries(service('migrate').environment ?? {}).filter(
      ([variable]) => variable in ofApi && variable !== 'DATABASE_URL_FILE',
    );
    expect(ofApi).toMatchObject(Object.fromEntries(ofBoth));
    expect(ofBoth.length).toBeGreaterThan(20);
  });

  it('defaults that it repeats are the defaults of the configuration', () => {
    for (const [variable, value] of ours.flatMap(environmentOf)) {
      const [, repeated] = /^\$\{\w+:-(.*)\}$/.exec(value) ?? [];
      if (repeated !== undefined) expect([variable, repeated]).toEqual([variable, known.get(variable)?.default ?? '']);
    }
  });

  it.each(['api', 'worker'])('%s has the same flags of Node as npm run, npm start and the image', (name) => {
    const command = ['node', ...nodeFlags, `dist/apps/${name}/main.js`];
    expect(service(name).command).toEqual(command);
    expect(JSON.parse(read('package.json')).scripts[name]).toMatch(new RegExp(`exec ${command.join(' ')}$`));
    if (name === 'api')
      expect(read('apps/Dockerfile')).toContain(`CMD ${JSON.stringify(command).replaceAll(',', ', ')}`);
  });

  // API and worker have addresses of the database of their own
  const secretOf = (name: string, variable: string) =>
    settingOf(variable)
      .toLowerCase()
      .replace(/^database_url$/, name === 'migrate' ? '$&' : `database_${name}_url`);

  it.each(ours)('%s has every secret as a file that the container has, and others not', (name) => {
    const given = environmentOf(name).filter(([variable]) => known.get(settingOf(variable))?.secret);
    for (const [variable, value] of given) {
      const secret = secretOf(name, variable);
      expect([`/run/secrets/${secret}`, `\${${variable}:+/run/secrets/${secret}}`]).toContain(value);
      // who gives a path of a file of theirs gives it by the name of the variable
      expect(compose.secrets[secret]?.file).toMatch(
        new RegExp(`^\\$\\{${secret.toUpperCase()}_FILE:-(\\./secrets/${secret.replaceAll('_', '-')}|/dev/null)\\}$`),
      );
    }
    expect(service(name).secrets?.toSorted()).toEqual(given.map(([variable]) => secretOf(name, variable)).sort());
  });

  it.each(Object.keys(compose.services))('%s may do and take no more than it needs', (name) => {
    expect(service(name)).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      logging: { options: { 'max-size': expect.any(String) } },
    });
    // Redis has a limit of its own
    if (name !== 'redis') expect(size(service(name).mem_limit)).toBeGreaterThan(0);
  });

  it('Redis keeps what it acknowledges, and stops before it has taken all memory, at what npm start sets', () => {
    const command = [service('redis').command ?? []].flat().join(' ');
    expect(command).toContain('--appendonly yes --appendfsync always --maxmemory-policy noeviction ');
    expect(command).toContain(` --maxmemory \${REDIS_MAXMEMORY:-${maxmemory}} `);
    expect(read('docs/operations.md')).toContain(`\`REDIS_MAXMEMORY\` (${maxmemory})`);
    // its file's rewrite can need as much again, and a limit below that would have it killed
    expect(service('redis')).not.toHaveProperty('mem_limit');
  });

  it('Postgres has its password from a file, and connections for eight API containers, four workers and those who look', () => {
    expect(service('postgres').environment?.POSTGRES_PASSWORD_FILE).toBe('/run/secrets/postgres_password');
    const [, connections] =
      /max_connections=\$\{POSTGRES_CONNECTIONS:-(\d+)\}$/.exec(String(service('postgres').command)) ?? [];
    const said = /API process has up to (\d+), a worker (\d+), a command (\d+)/.exec(read('docs/containers.md'));
    const [ofApi = Number.NaN, ofWorker = Number.NaN, ofCommand = Number.NaN] = said?.slice(1).map(Number) ?? [];
    expect(Number(connections)).toBeGreaterThanOrEqual(8 * ofApi + 4 * ofWorker + ofCommand + 20);
  });

  it('images have the versions that docs/containers.md tells, Redis the fix of CVE-2025-49844, and Caddy the retry of a request with a body', () => {
    const told = sectionOf('docs/containers.md', '## What was tried').matchAll(
      /^\| [A-Z]\w+ \| [\d.]+ \| ([\d.]+) \|$/gm,
    );
    const versionOf = (text: string | undefined) => /:v?(\d+\.\d+[\d.]*)[\w.-]*$/.exec(text ?? '')?.[1];
    const froms = [...read('apps/Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image]) => versionOf(image));
    expect([...told].map(([, version]) => version)).toEqual([
      froms[0],
      ...['postgres', 'redis', 'proxy', 'prometheus'].map((name) => versionOf(service(name).image)),
    ]);
    expect(froms).not.toContain(undefined);
    expect(Number(/^7\.4\.(\d+)$/.exec(versionOf(service('redis').image) ?? '')?.[1])).toBeGreaterThanOrEqual(6);
    expect(Number(/^2\.11\.(\d+)$/.exec(versionOf(service('proxy').image) ?? '')?.[1])).toBeGreaterThanOrEqual(2);
  });

  it('the image is built once, by the service that the others wait for, and is pulled from nowhere', () => {
    expect(servicesWith(({ build }) => build)).toEqual(['migrate']);
    const { image } = service('migrate');
    for (const name of ours) expect(service(name)).toMatchObject({ image, pull_policy: 'never' });
  });

  it('what stays has a health check, and waits for what it needs; the stores may take their time', () => {
    expect(servicesWith((each) => 'healthcheck' in each)).toEqual(servicesWith((each) => each !== service('migrate')));
    expect(service('migrate')).toHaveProperty('depends_on.postgres.condition', 'service_healthy');
    const [migrate, redis] = [{ condition: 'service_completed_successfully' }, { condition: 'service_healthy' }];
    for (const name of ['api', 'worker']) expect(service(name)).toMatchObject({ depends_on: { migrate, redis } });
    // in its start period a container is not given up; while the image makes a database, its server is on the socket only
    const patient = { start_period: '10m', interval: '5s' };
    expect(service('redis')).toMatchObject({ healthcheck: patient });
    const test = ['CMD-SHELL', expect.stringMatching(/ -h 127\.0\.0\.1 /)];
    expect(service('postgres')).toMatchObject({ healthcheck: { ...patient, test }, stop_grace_period: '60s' });
  });

  it('any number of workers and API processes can run: in .env, so that no `up` goes back to one', () => {
    expect(servicesWith((each) => 'container_name' in each)).toEqual([]);
    expect(service('api')).toHaveProperty('deploy.replicas', `\${API_REPLICAS:-2}`);
    expect(service('worker')).toHaveProperty('deploy.replicas', `\${WORKER_REPLICAS:-1}`);
  });

  it('an API container that is made anew has the port of the one before: there are as many as containers, and an own proxy names all', () => {
    const portsOf = (text = '') => {
      const [, first, last] = /127\.0\.0\.1:(\d+)-(\d+)/.exec(text) ?? [];
      return Array.from(
        { length: Number(last) - Number(first) + 1 },
        (_, index) => `127.0.0.1:${Number(first) + index}`,
      );
    };
    const { ports } = service('api');
    expect(ports).toEqual([expect.stringMatching(/^\$\{API_PORTS:-[\d.:-]+\}:3000$/)]);
    const [, replicas] = /API_REPLICAS:-(\d+)/.exec(read('docker-compose.yml')) ?? [];
    const ours = portsOf(ports?.[0]);
    expect(ours).toHaveLength(Number(replicas));
    const [{ text } = { text: '' }] = blocksIn(
      'docs/containers.md',
      sectionOf('docs/containers.md', '### Your own proxy'),
    );
    expect(text.match(/127\.0\.0\.1:\d+/g)).toEqual(ours);
    for (const file of ['docs/containers.md', 'docker-compose.yml']) {
      const [, more, range] = /API_REPLICAS=(\d+)\S* (?:with `)?API_PORTS=([\d.:-]+)/.exec(read(file)) ?? [];
      expect([file, portsOf(range).length]).toEqual([file, Number(more)]);
    }
  });

  it('the proxy, where it is asked for, reaches the API alone, and nothing else is open to other machines', () => {
    expect(service('proxy')).toMatchObject({ profiles: ['tls'], ports: ['0.0.0.0:80:80', '0.0.0.0:443:443'] });
    expect(service('prometheus')).toMatchObject({ profiles: ['monitoring'] });
    const members = (network: string) => servicesWith((each) => networksOf(each).includes(network));
    expect(Object.fromEntries(Object.keys(compose.networks).map((network) => [network, members(network)]))).toEqual({
      front: ['api', 'proxy'],
      back: servicesWith((each) => each !== service('proxy')),
      out: ['migrate', 'worker', 'prometheus'],
    });
    expect(servicesWith(({ ports }) => ports?.some((port) => !port.includes('127.0.0.1')))).toEqual(['proxy']);
  });

  it('the name of a container that is not there is asked of no other DNS server, which may be slow', () => {
    expect(servicesWith((each) => each.dns_opt?.includes('ndots:1'))).toEqual(Object.keys(compose.services));
    const [, name] = /name \{\$API_HOST:(.+)\}/.exec(read('apps/Caddyfile')) ?? [];
    expect(name).toBe('api.');
  });

  it('the stores have no way out, and what has a port on this machine has a network that is not internal', () => {
    expect(compose.networks).toEqual({ front: null, back: { internal: true }, out: null });
    expect([service('postgres'), service('redis')].map(networksOf)).toEqual([['back'], ['back']]);
    const unreachable = servicesWith((each) => each.ports && networksOf(each).every((network) => network === 'back'));
    expect(unreachable).toEqual([]);
  });

  it.each(['api', 'worker'])(
    'the operations port of %s is on the network of the stores alone, not on the proxy’s',
    (name) => {
      const { networks, environment } = service(name);
      const names = Object.entries(networks ?? {}).map(([network, settings]) => [network, settings?.aliases ?? []]);
      expect(names).toContainEqual(['back', [environment?.OPS_HOST]]);
      expect(names.filter(([, aliases]) => aliases?.includes(environment?.OPS_HOST ?? ''))).toHaveLength(1);
    },
  );

  it('takes IPv6 only with what docs/containers.md adds: otherwise all visitors would have one address', () => {
    const [{ text } = { text: '' }] = blocksIn('docs/containers.md', sectionOf('docs/containers.md', '### IPv6'));
    // the proxy also looks the API up by IPv6 then
    expect(parse(text)).toEqual({
      services: { proxy: { ports: ['[::]:80:80', '[::]:443:443'] }, api: { environment: { HOST: '::' } } },
      networks: { front: { enable_ipv6: true } },
    });
  });

  it('Prometheus finds every API and worker at its operations port, by the job names of the alerts', () => {
    expect(service('prometheus')).toMatchObject({
      volumes: expect.arrayContaining(['./docs/monitoring:/etc/prometheus:ro']),
      command: expect.arrayContaining(['--config.file=/etc/prometheus/prometheus.compose.yml']),
    });
    const jobsIn = (name: string) =>
      (parse(read(`docs/monitoring/${name}`)) as { scrape_configs: { job_name: string }[] }).scrape_configs;
    const jobs = jobsIn('prometheus.compose.yml');
    expect(jobs.map((job) => job.job_name)).toEqual(jobsIn('prometheus.yml').map((job) => job.job_name));
    expect(jobs).toEqual(
      ['api', 'worker'].map((name) => {
        const { OPS_HOST, OPS_PORT: port } = service(name).environment ?? {};
        const dns_sd_configs = [{ names: [OPS_HOST], type: 'A', port, refresh_interval: '15s' }];
        return { job_name: `assent-${name}`, dns_sd_configs };
      }),
    );
  });
});

describe('docs/containers.md', () => {
  const page = 'docs/containers.md';
  const lines = blocksOf(page).flatMap(({ language, text }) => (language === 'sh' ? text.split('\n') : []));

  it('has commands that a shell can read, and names services and variables that the compose file has', () => {
    const { stderr } = spawnSync('/bin/sh', ['-n'], { input: lines.join('\n'), encoding: 'utf8' });
    expect(stderr).toBe('');
    const file = read('docker-compose.yml');
    const services = lines.flatMap((line) => {
      const [, , , ...words] = /docker compose [^#)|]*/.exec(line)?.[0].split(/ +/) ?? [];
      return words.find((word) => /^\w+$/.test(word)) ?? [];
    });
    expect(services.length).toBeGreaterThan(10);
    expect(services.filter((name) => !(name in compose.services))).toEqual([]);
    const variables = [...read(page).matchAll(/`([A-Z]+_[A-Z_]+)(?:=[^`]*)?`/g)].map(([, name = '']) => name);
    const has = (name: string) => file.includes(name) || known.has(settingOf(name));
    expect(variables.filter((name) => !has(name))).toEqual([]);
  });

  it('has flags that Compose 2.20 has, and secrets that the compose file has, by both of their names', () => {
    const flagsOf = new Map([
      ['build', []],
      ['exec', ['-T']],
      ['ps', ['--quiet', '--services']],
      ['run', ['--rm', '-T', '--no-deps']],
      ['stop', []],
      ['up', ['-d', '--build', '--no-deps', '--wait', '--force-recreate', '--no-recreate']],
    ]);
    const used = lines.flatMap((line) => [...line.matchAll(/docker compose (\w+)((?: -\S+)*)/g)]);
    const unknown = used.filter(([, verb = '', flags = '']) => {
      const known: string[] | undefined = flagsOf.get(verb);
      return !known || flags.split(' ').some((flag) => flag && !known.includes(flag));
    });
    expect([used.length > 20, unknown.map(([command]) => command)]).toEqual([true, []]);
    const files = Object.values(compose.secrets).map(({ file }) => /([\w.-]+)\}?$/.exec(file)?.[1]);
    const mounted = [...read(page).matchAll(/\/run\/secrets\/([\w.-]+)/g)].map(([, name = '']) => name);
    const kept = [...read(page).matchAll(/(?<!\/run\/)secrets\/([\w.-]+)/g)].map(([, name = '']) => name);
    expect(mounted.filter((name) => !(name in compose.secrets))).toEqual([]);
    expect(kept.filter((name) => !files.includes(name.replace(/-previous$/, '')))).toEqual([]);
    expect([mounted.length, kept.length].every((count) => count > 1)).toBe(true);
  });

  it('makes every container anew that may have another secret: Compose looks neither into its file nor at its path', () => {
    const starts = lines.filter((line) => /docker compose up .*\b(api|worker)\b/.test(line));
    expect(starts.length).toBeGreaterThan(2);
    // beside the old containers, or in their place
    expect(starts.filter((line) => !/ --(no|force)-recreate /.test(line))).toEqual([]);
  });

  it.each([
    ['each once the one before is ready', 0, ['one', 'two', 'three']],
    ['all but the first go on where its successor does not become ready', 1, ['one']],
  ])('replaces the API one after the other: %s', (_, status, replaced) => {
    const section = sectionOf(page, '## Change something, one after the other');
    const [{ text } = { text: '' }] = blocksIn(page, section);
    /** `docker` says what it was told; to make an API container ends with this status. */
    const docker = `docker() {
      case "$*" in
        'compose ps --quiet api') printf '%s\\n' one two three ;;
        'compose ps --services') printf '%s\\n' api postgres proxy redis worker ;;
        *' api') echo "$*"; return ${status} ;;
        *) echo "$*" ;;
      esac
    }
    `;
    const here = text.replace('scripts/make-secrets.sh', ':');
    const said = spawnSync('/bin/sh', ['-c', docker + here], { encoding: 'utf8' })
      .stdout.trim()
      .split('\n');
    const up = 'compose up -d --no-deps --no-recreate --wait api';
    const loop = said.slice(said.findIndex((line) => line.startsWith('stop ')));
    // proxy and Prometheus come last, where they run, whatever became of the API; an `up` of all would make anew, with
    // older Compose, whatever was made with `--no-deps`
    const others = 'compose up -d --no-deps proxy';
    expect(loop).toEqual([...replaced.flatMap((name) => [`stop ${name}`, `rm ${name}`, up]), others]);
    // the stores one after the other, so that one of them takes records
    const stores = said.filter((line) => / --wait (postgres|redis)$/.test(line));
    expect(stores.map((line) => line.split(' ').at(-1))).toEqual(['postgres', 'redis']);
  });

  it('has files beside the compose file that are about its services, and lose no setting of Postgres', () => {
    const settingsIn = (command: string | string[] = []) =>
      [command]
        .flat()
        .join(' ')
        .match(/\w+=\S+/g) ?? [];
    const overrides = blocksOf(page)
      .filter(({ language }) => language === 'yaml')
      .map(({ text }) => (parse(text) as typeof compose).services);
    expect(overrides.flatMap(Object.keys).filter((name) => !(name in compose.services))).toEqual([]);
    const commands = overrides.flatMap(({ postgres }) => (postgres?.command ? [postgres.command] : []));
    const own = settingsIn(service('postgres').command);
    expect(own).toHaveLength(5);
    // after a restore it archives as before, into another folder
    expect(commands).toEqual([commands[0], commands[0]]);
    expect(settingsIn(commands[0])).toEqual(expect.arrayContaining(own));
    const archives = overrides.flatMap(
      ({ postgres }) => postgres?.volumes?.filter((each) => each.endsWith('/archive')) ?? [],
    );
    expect(new Set(archives).size).toBe(2);
  });

  it('overwrites no .env', () => {
    for (const text of [read(page), read('docs/operations.md'), read('docker-compose.yml')])
      expect(text).not.toMatch(/[^>]> *\.env/);
  });
});

it('docs/operations.md tells of every setting what the configuration does, of no other, and which are secrets', () => {
  const page = read('docs/operations.md');
  const rows = [...known].map(
    ([name, setting]) => `| \`${name}\` | ${setting.default ?? ''} | ${setting.for.join(', ')} | ${setting.about} |`,
  );
  expect(page.match(/^\| `[A-Z_]+` \|.*$/gm)).toEqual(rows);
  const secrets = [...known].filter(([, { secret }]) => secret).map(([name]) => `\`${name}\``);
  expect(page).toContain(`Secrets are: ${secrets.join(', ')}.`);
});
