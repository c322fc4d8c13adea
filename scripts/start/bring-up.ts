/** The order in which everything comes up; it goes down in the reverse one. */
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { scopes } from '#libs/base/terms/terms';
import { Advice, describe } from '../stack/advice.ts';
import { answersReady, launch, runCli } from '../stack/assent-process.ts';
import { build } from '../stack/build.ts';
import { loginsAt } from '../stack/logins.ts';
import { dataRoot, root } from '../stack/paths.ts';
import { freePort, isFree, isTaken } from '../stack/ports.ts';
import { startPostgres } from '../stack/postgres.ts';
import { startRedis } from '../stack/redis.ts';
import type { RunningServer, ServerOptions } from '../stack/server.ts';
import { lastLines, type Tethered } from '../stack/tether.ts';
import { succeeds, waitUntil } from '../stack/wait.ts';
import {
  canIssueTokens,
  environment,
  given,
  madeSettings,
  ownStores,
  publishSettings,
  readPrivate,
  tokenHours,
  writePrivate,
} from './settings.ts';

interface Part {
  stop(): Promise<unknown>;
  /** at once, for an impatient user */
  kill(): void;
}

/** What was started, in this order. */
export interface Running {
  parts: Part[];
  stopping: boolean;
}

export async function bringUp(running: Running, signal: AbortSignal) {
  // what is wrong with the user's own settings is reported at once
  const own = ownStores();
  await chooseAddresses();
  if (own)
    say(`${own.postgres} and ${own.redis} are yours: the database will be migrated, and get a demo organization`);
  await step('build', () => build('dist', { signal }));
  const bringUpStore = storesIn(running, signal);
  const postgres = await bringUpStore('Postgres', own?.postgres, startPostgres);
  const redis = await bringUpStore('Redis', own?.redis, startRedis);
  const env = {
    ...environment(),
    ...(postgres.url && { DATABASE_URL: postgres.url, ...loginsAt(postgres.url) }),
    ...(redis.url && { REDIS_URL: redis.url }),
    ...madeSettings(),
  };

  const cli = createCli(env, signal);
  await step('migrate', () => cli.run('migrate'));
  const demo = await step('demo', () => ensureDemo(cli));
  const token = canIssueTokens()
    ? await cli.ask(
        'token',
        'token',
        'issue',
        demo.organizationId,
        '--ttl',
        `${tokenHours()}h`,
        '--scope',
        scopes.join(' '),
      )
    : null;

  const {
    services,
    workerOpsUrl,
    publicUrl: pages,
    ...urls
  } = await step('services', () => onFreePorts((addresses) => bringUpServices(running, env, demo, addresses, signal)));
  writePrivate('demo.json', `${JSON.stringify({ ...urls, ...demo, token }, null, 2)}\n`);
  const logs = services.map(({ logFile }) => path.relative(root, logFile));
  const setupUrl = await firstSetup(env, pages, signal);
  const signInUrl = setupUrl === null ? pages : undefined;
  const stores = { postgres: postgres.shown, redis: redis.shown };
  const facts = { ...urls, ...demo, ...stores, workerOpsUrl, logs, token, setupUrl, signInUrl };
  return { facts, services };
}

const say = (line: string): void => console.log(`  ${line}`);

async function step<T>(name: string, work: () => Promise<T>, detail: (result: T) => string = () => '') {
  const start = performance.now();
  const result = await work();
  const seconds = `${((performance.now() - start) / 1000).toFixed(1)} s`;
  say(`${name.padEnd(12)}${seconds.padStart(7)}  ${detail(result)}`.trimEnd());
  return result;
}

/** A store of ours, unless a setting (`own`) names the user's: that address may hold a password, so it is not shown. */
const storesIn =
  (running: Running, signal: AbortSignal) =>
  async (name: string, own: string | undefined, start: (options: ServerOptions) => Promise<RunningServer>) => {
    if (own) return { shown: `as ${own} says` };
    const dataDir = path.join(dataRoot, name.toLowerCase());
    const server = await step(
      name,
      () => start({ dataDir, say, signal }),
      ({ port }) => `port ${port}`,
    );
    running.parts.push(server);
    // the services go on without it, as they would elsewhere, and so does the run
    const lost = `${name} has ended (see ${server.logFile}). Stop and start again to bring it back.`;
    void server.exited.then(() => running.stopping || say(lost));
    return { url: server.url, shown: server.url };
  };

type Env = NodeJS.ProcessEnv;

async function bringUpServices(running: Running, env: Env, demo: DemoSetup, addresses: Addresses, signal: AbortSignal) {
  const { host, port, opsHost, opsPort, workerOpsPort } = addresses;
  const ports = { HOST: host, PORT: String(port), OPS_HOST: opsHost, OPS_PORT: String(opsPort) };
  const listening: Env = { ...env, ...ports, PUBLIC_URL: publicUrl(host, port) };
  const opsUrl = baseUrl(opsHost, opsPort);
  const workerOpsUrl = baseUrl(opsHost, workerOpsPort);
  publishSettings(listening);
  // each is told of its own login alone
  const { DATABASE_URL: owner, DATABASE_API_URL: ofApi, DATABASE_WORKER_URL: ofWorker, ...shared } = listening;
  const workerPort = { OPS_PORT: String(workerOpsPort) };
  const worker = startService('worker', { ...shared, DATABASE_URL: ofWorker || owner, ...workerPort });
  const demoShop = { DEMO_DOMAIN: demo.domainId, DEMO_API_KEY: demo.apiKey };
  const api = startService('api', { ...shared, DATABASE_URL: ofApi || owner, ...demoShop });
  const services = [api, worker];
  running.parts.push(worker.tethered, api.tethered);
  try {
    await Promise.all([untilReady(worker, workerOpsUrl, signal), untilReady(api, opsUrl, signal)]);
  } catch (error) {
    await Promise.all(services.map(({ tethered }) => tethered.stop()));
    throw error;
  }
  return { baseUrl: pagesUrl(host, port), publicUrl: listening.PUBLIC_URL, opsUrl, workerOpsUrl, services };
}

/** The link to the first account; null where somebody has one, or there are no accounts. */
async function firstSetup(env: Env, publicUrl: string | undefined, signal: AbortSignal): Promise<string | null> {
  if (publicUrl === undefined) return null;
  const cli = createCli({ ...env, PUBLIC_URL: publicUrl }, signal);
  return cli.ask('setupUrl', 'setup').catch(() => null);
}

/** What the user reads last: where everything is, and a command to paste for each endpoint. */
export function summary(facts: Awaited<ReturnType<typeof bringUp>>['facts']): string {
  const { baseUrl, opsUrl, workerOpsUrl, postgres, redis, logs, setupUrl, signInUrl } = facts;
  const { organizationId, domainId, apiKey, token } = facts;
  const addresses = {
    ...(setupUrl !== null && { 'Set up': `${setupUrl}  (valid for an hour)` }),
    ...(signInUrl !== undefined && { 'Sign in': signInUrl }),
    Dashboard: token === null ? baseUrl : `${baseUrl}/#token=${token}`,
    API: baseUrl,
    'Demo shop': `${baseUrl}/demo`,
    Reference: `${baseUrl}/docs`,
    OpenAPI: `${baseUrl}/openapi.json`,
    Operations: `${opsUrl}  ${opsUrl}/metrics  ${opsUrl}/queues  (worker: ${workerOpsUrl})`,
    Postgres: postgres,
    Redis: redis,
    Logs: logs.join('  '),
    Demo: `organization ${organizationId}, domain ${domainId}`,
    'A full year': 'npm run demo',
    'As JSON': '.data/demo.json',
  };
  const rows = Object.entries(addresses).map(([name, value]) => `  ${name.padEnd(12)}${value}`);
  const today = new Date().toISOString().slice(0, 10);
  const domain = `${baseUrl}/v1/consent/${domainId}`;
  const get = (url: string) => `curl -w '\\n' -H "authorization: Bearer $TOKEN" '${url}'`;
  return `
Assent is running. Ctrl-C stops it.

${rows.join('\n')}

TOKEN=${token ?? "'one that is signed with your private key'"}
curl -w '\\n' -X POST -H 'content-type: application/json' -H 'x-api-key: ${apiKey}' -d '{"decision":"accept_all"}' '${domain}/record'
${get(`${domain}/stats?from=${today.slice(0, 7)}-01&to=${today}`)}
${get(`${domain}/records`)}
${get(`${baseUrl}/v1/consent/org-stats`)}
${get(`${baseUrl}/v1/organization`)}
`;
}

/** The built command line; a failure there is one line, and an Advice here. */
function createCli(env: NodeJS.ProcessEnv, signal: AbortSignal) {
  const run = (...args: string[]): Promise<string> =>
    runCli(path.join(root, 'dist'), args, { cwd: root, env, signal }).catch((error) => {
      throw new Advice(`assent ${args.join(' ')}: ${describe(error)}`);
    });
  const ask = async (field: string, ...args: string[]): Promise<string> => {
    const fields: Record<string, unknown> = JSON.parse(await run(...args, '--json'));
    return z.string().parse(fields[field]);
  };
  return { run, ask };
}

const setupSchema = z.object({ organizationId: z.string(), domainId: z.string(), apiKey: z.string() });
const listedKeys = z.object({ keys: z.array(z.object({ prefix: z.string(), revokedAt: z.string().nullable() })) });
const file = 'demo-setup.json';

type DemoSetup = z.infer<typeof setupSchema>;

/**
 * The demo organization: made once, with a domain and a key, so that there is something to record to. A key that was revoked
 * since, or a domain that was archived, is replaced.
 */
async function ensureDemo({ run, ask }: ReturnType<typeof createCli>): Promise<DemoSetup> {
  const isActive = async ({ domainId, apiKey }: DemoSetup) => {
    const { keys } = listedKeys.parse(JSON.parse(await run('key', 'list', '--domain', domainId, '--json')));
    return keys.some(({ prefix, revokedAt }) => revokedAt === null && apiKey.startsWith(prefix));
  };
  const kept = setupSchema.safeParse(JSON.parse(readPrivate(file) ?? 'null'));
  // another DATABASE_URL, or an emptied database, does not know what an earlier start made
  const before = kept.success && (await succeeds(run('org', 'show', kept.data.organizationId))) ? kept.data : undefined;
  if (before && (await isActive(before).catch(() => false))) return before;
  const makeOrganization = async () => {
    await run('plan', 'set', 'demo', '--consent-log', 'true', '--monthly-limit', 'none');
    return ask('organizationId', 'org', 'create', 'Demo organization', '--plan', 'demo');
  };
  const organizationId = before?.organizationId ?? (await makeOrganization());
  const makeDomain = () => ask('domainId', 'domain', 'create', organizationId, 'demo.example');
  const makeKey = (domainId: string) => ask('apiKey', 'key', 'create', domainId);
  // an archived one gets no key
  const renewed = before && (await makeKey(before.domainId).catch(() => undefined));
  const domainId = before && renewed ? before.domainId : await makeDomain();
  const setup = { organizationId, domainId, apiKey: renewed ?? (await makeKey(domainId)) };
  writePrivate(file, `${JSON.stringify(setup, null, 2)}\n`);
  return setup;
}

interface Service {
  name: string;
  logFile: string;
  tethered: Tethered;
}

/** Another process was quicker. */
export class PortTaken extends Advice {}

/** A machine that is busy with something else takes its time. */
const READY_MS = 60_000;

/** One of our processes, with its log in a file. */
function startService(name: 'api' | 'worker', env: NodeJS.ProcessEnv): Service {
  const logFile = path.join(dataRoot, 'logs', `${name}.log`);
  mkdirSync(path.dirname(logFile), { recursive: true, mode: 0o700 });
  // The run before is often the one to look at.
  if (existsSync(logFile)) renameSync(logFile, path.join(dataRoot, 'logs', `${name}.previous.log`));
  const { process: tethered } = launch(path.join(root, 'dist'), name, env, [], logFile);
  return { name, logFile, tethered };
}

async function untilReady(service: Service, opsUrl: string, signal: AbortSignal): Promise<void> {
  const probe = async () => {
    if (!service.tethered.running()) throw await failure(service);
    return answersReady(opsUrl);
  };
  if (await waitUntil(probe, { deadlineMs: READY_MS, intervalMs: 50, signal })) return;
  throw new Advice(withLog(service, `${service.name} is not ready after ${READY_MS / 1000} s.`));
}

/** What to show when it ended although nobody asked it to. */
export async function failure(service: Service): Promise<Advice> {
  const { code, signal } = await service.tethered.exited;
  const message = withLog(service, `${service.name} ended (${signal ?? `exit code ${code}`}).`);
  return /^(OPS_)?PORT \d+ on \S+ is taken$/m.test(message) ? new PortTaken(message) : new Advice(message);
}

function withLog({ logFile }: Service, what: string): string {
  return `${what} The end of ${path.relative(root, logFile)}:\n${lastLines(readFileSync(logFile, 'utf8'))}`;
}

type Addresses = Awaited<ReturnType<typeof chooseAddresses>>;

/** Where the services listen: the usual ports when they are free, the user's own or none. */
async function chooseAddresses() {
  const host = given('HOST') ?? '127.0.0.1';
  const opsHost = given('OPS_HOST') ?? '127.0.0.1';
  const port = await choosePort('PORT', 3000, host, []);
  const opsPort = await choosePort('OPS_PORT', 3001, opsHost, [port]);
  const workerOpsPort = await usualOrFree(opsPort + 1, opsHost, [port, opsPort]);
  return { host, port, opsHost, opsPort, workerOpsPort };
}

/** The name of this machine for itself, where what listens there is reached by it. */
const isLocal = (host: string): boolean => ['127.0.0.1', '::1', 'localhost', '0.0.0.0', '::'].includes(host);

/** Where people reach it on this machine: browsers let localhost do what they refuse to an address. */
const pagesUrl = (host: string, port: number): string =>
  isLocal(host) ? `http://localhost:${port}` : baseUrl(host, port);

/** PUBLIC_URL, also where the user has set none; it takes no other address without TLS. */
const publicUrl = (host: string, port: number): string | undefined =>
  given('PUBLIC_URL') ?? (isLocal(host) ? pagesUrl(host, port) : undefined);

/** A base address that a client on this machine can use. */
function baseUrl(host: string, port: number): string {
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Where it listens; a name that leads to it must not lead browsers to another service first. */
const isFreeAt = async (port: number, host: string): Promise<boolean> =>
  (await isFree(port, host)) &&
  !(isLocal(host) && ((await isTaken(port, '::1')) || (await isTaken(port, '127.0.0.1'))));

async function choosePort(name: string, usual: number, host: string, others: number[]): Promise<number> {
  const wanted = given(name);
  if (wanted === undefined || wanted === '0') return usualOrFree(usual, host, others);
  const port = Number(wanted);
  const isPort = Number.isInteger(port) && port >= 0 && port <= 65_535;
  if (!isPort) throw new Advice(`${name} must be a port, not "${wanted}".`);
  if (others.includes(port) || !(await isFreeAt(port, host))) {
    throw new Advice(`${name}: ${host}:${port} is taken. Free it, or choose another ${name}.`);
  }
  return port;
}

async function usualOrFree(usual: number, host: string, others: number[]): Promise<number> {
  if (!others.includes(usual) && (await isFreeAt(usual, host))) return usual;
  for (;;) {
    const port = await freePort();
    if (!others.includes(port)) return port;
  }
}

/** Starts on free ports, and again on others where another process was quicker. */
export async function onFreePorts<T>(start: (addresses: Addresses) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await chooseAddresses());
    } catch (error) {
      if (!(error instanceof PortTaken) || attempt === 5) throw error;
    }
  }
}
