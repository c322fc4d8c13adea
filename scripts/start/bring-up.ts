/** Starts everything in order; `npm start` stops it in reverse order. */
import path from 'node:path';
import { scopes } from '#libs/base/terms/terms';
import { build } from '../stack/build.ts';
import { loginsAt } from '../stack/logins.ts';
import { dataRoot, root } from '../stack/paths.ts';
import { startPostgres } from '../stack/postgres.ts';
import { startRedis } from '../stack/redis.ts';
import type { RunningServer, ServerOptions } from '../stack/server.ts';
import { type Addresses, baseUrl, chooseAddresses, onFreePorts, pagesUrl, publicUrl } from './addresses.ts';
import { createCli, type DemoSetup, ensureDemo } from './demo-organization.ts';
import { startService, untilReady } from './services.ts';
import {
  canIssueTokens,
  environment,
  madeSettings,
  ownStores,
  publishSettings,
  tokenHours,
  writePrivate,
} from './settings.ts';

interface Part {
  stop(): Promise<unknown>;
  /** at once, when the user presses Ctrl-C twice */
  kill(): void;
}

/** The started parts, in order. */
export interface Running {
  parts: Part[];
  stopping: boolean;
}

export async function bringUp(running: Running, signal: AbortSignal) {
  // first, so that mistakes in the user's settings are reported at once
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

/** Starts a store, unless a setting (`own`) has the user's. That address may contain a password, so it is not shown. */
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
    // the services continue without it, as in any installation
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
  // each process only gets its own login
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

/** The link to create the first account; null if there is one already, or accounts are not set up. */
async function firstSetup(env: Env, publicUrl: string | undefined, signal: AbortSignal): Promise<string | null> {
  if (publicUrl === undefined) return null;
  const cli = createCli({ ...env, PUBLIC_URL: publicUrl }, signal);
  return cli.ask('setupUrl', 'setup').catch(() => null);
}

/** Printed last: all addresses, and commands to paste. */
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
