/** The order in which everything comes up; it goes down in the reverse one. */
import path from 'node:path';
import { isTooOld } from '#libs/base/db/migrate';
import { scopes } from '#libs/base/terms/terms';
import { Advice } from '../stack/advice.ts';
import { build } from '../stack/build.ts';
import { loginsAt } from '../stack/logins.ts';
import { dataRoot, root } from '../stack/paths.ts';
import { startPostgres } from '../stack/postgres.ts';
import { startRedis } from '../stack/redis.ts';
import type { RunningServer, ServerOptions } from '../stack/server.ts';
import { type Addresses, baseUrl, chooseAddresses, onFreePorts, pagesUrl, publicUrl } from './addresses.ts';
import { createCli, type DemoSetup, ensureDemo } from './demo.ts';
import { startService, untilReady } from './service.ts';
import { canIssueTokens, given, madeSettings, publishSettings, writePrivate } from './settings.ts';

export type SummaryFacts = Awaited<ReturnType<typeof bringUp>>['facts'];

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
  // what is wrong with the user's own ports is reported at once
  await chooseAddresses();
  await step('build', () => build('dist', { signal }));
  const bringUpStore = storesIn(running, signal);
  const postgres = await bringUpStore('Postgres', ['DATABASE_URL'], startPostgres);
  const redis = await bringUpStore('Redis', ['REDIS_URL', 'REDIS_CLUSTER_NODES', 'REDIS_SENTINELS'], startRedis);
  const env = {
    ...process.env,
    ...(postgres.url && { DATABASE_URL: postgres.url, ...loginsAt(postgres.url) }),
    ...(redis.url && { REDIS_URL: redis.url }),
    ...madeSettings(),
  };

  const cli = createCli(env, signal);
  await step('migrate', async () => {
    // of a database that the user has named, the command line says the same
    if (postgres.url && (await isTooOld(postgres.url))) throw new Advice(beginAnew(postgres.dataDir, redis.dataDir));
    await cli.run('migrate');
  });
  const demo = await step('demo', () => ensureDemo(cli));
  const token = canIssueTokens()
    ? await cli.ask('token', 'token', 'issue', demo.organizationId, '--ttl', '7d', '--scope', scopes.join(' '))
    : null;

  const { services, workerOpsUrl, ...urls } = await step('services', () =>
    onFreePorts((addresses) => bringUpServices(running, env, demo, addresses, signal)),
  );
  writePrivate('demo.json', `${JSON.stringify({ ...urls, ...demo, token }, null, 2)}\n`);
  const logs = services.map(({ logFile }) => path.relative(root, logFile));
  const facts = { ...urls, ...demo, workerOpsUrl, postgres: postgres.shown, redis: redis.shown, logs, token };
  return { facts, services };
}

/** Redis goes too: its queue may hold records of the domains that go with the database. */
function beginAnew(postgresFolder: string, redisFolder: string | undefined): string {
  const folders = [postgresFolder, ...(redisFolder ? [redisFolder] : [])].map(fromRoot);
  return `The database in ${folders[0]} has a schema from before the first release: nothing was changed. To begin anew, move away or remove ${folders.join(' and ')}.`;
}

/** Postgres may be elsewhere, where its user can reach it. */
const fromRoot = (folder: string): string =>
  folder.startsWith(dataRoot + path.sep) ? path.relative(root, folder) : folder;

const say = (line: string): void => console.log(`  ${line}`);

async function step<T>(name: string, work: () => Promise<T>, detail: (result: T) => string = () => '') {
  const start = performance.now();
  const result = await work();
  const seconds = `${((performance.now() - start) / 1000).toFixed(1)} s`;
  say(`${name.padEnd(12)}${seconds.padStart(7)}  ${detail(result)}`.trimEnd());
  return result;
}

/** A store of ours, unless the user has named one: that address may hold a password, so it is not shown. */
const storesIn =
  (running: Running, signal: AbortSignal) =>
  async (name: string, settings: string[], start: (options: ServerOptions) => Promise<RunningServer>) => {
    const own = settings.find(given);
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
    return { url: server.url, shown: server.url, dataDir: server.dataDir };
  };

type Env = NodeJS.ProcessEnv;

async function bringUpServices(running: Running, env: Env, demo: DemoSetup, addresses: Addresses, signal: AbortSignal) {
  const { host, port, opsHost, opsPort, workerOpsPort } = addresses;
  const ports = { HOST: host, PORT: String(port), OPS_HOST: opsHost, OPS_PORT: String(opsPort) };
  const listening: Env = { ...env, ...ports, ...publicUrl(host, port) };
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
  return { baseUrl: pagesUrl(host, port), opsUrl, workerOpsUrl, services };
}
