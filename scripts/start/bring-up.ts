/** The order in which everything comes up; it goes down in the reverse one. */
import path from 'node:path';
import { build } from '../stack/build.ts';
import { dataRoot, root } from '../stack/paths.ts';
import { startPostgres } from '../stack/postgres.ts';
import { startRedis } from '../stack/redis.ts';
import { type Addresses, baseUrl, chooseAddresses } from './addresses.ts';
import { createCli } from './cli.ts';
import { type DemoSetup, ensureDemo, issueToken } from './demo.ts';
import { canIssueTokens, given, jwtSecret, publishSettings } from './environment.ts';
import { writePrivate } from './files.ts';
import { say, step } from './progress.ts';
import type { Running } from './running.ts';
import { type Service, startService, untilReady } from './service.ts';
import type { SummaryFacts } from './summary.ts';

export interface Up {
  facts: SummaryFacts;
  services: Service[];
}

export async function bringUp(running: Running, signal: AbortSignal): Promise<Up> {
  const addresses = await chooseAddresses();
  await step('build', () => build('dist', signal));
  const database = await bringUpPostgres(running, signal);
  const redis = await bringUpRedis(running, signal);
  const env = environment(addresses, database.url, redis.url);

  const cli = createCli(env, signal);
  await step('migrate', () => cli.run('migrate'));
  const demo = await step('demo', () => ensureDemo(cli));
  const token = canIssueTokens() ? await issueToken(cli, demo.organizationId) : null;

  publishSettings(env);
  const opsUrl = baseUrl(addresses.opsHost, addresses.opsPort);
  const workerOpsUrl = baseUrl(addresses.opsHost, addresses.workerOpsPort);
  const services = await step('services', () => bringUpServices({ running, env, demo, opsUrl, workerOpsUrl, signal }));

  const address = { baseUrl: baseUrl(addresses.host, addresses.port), opsUrl };
  writePrivate('demo.json', `${JSON.stringify({ ...address, ...demo, token }, null, 2)}\n`);
  const logs = services.map(({ logFile }) => path.relative(root, logFile));
  const facts = { ...address, ...demo, workerOpsUrl, postgres: database.shown, redis: redis.shown, logs, token };
  return { facts, services };
}

interface Store {
  url: string | undefined;
  /** For the summary: the user's own address may hold a password that does not belong on a screen. */
  shown: string;
}

async function bringUpPostgres(running: Running, signal: AbortSignal): Promise<Store> {
  const own = given('DATABASE_URL');
  if (own !== undefined) return { url: own, shown: 'as DATABASE_URL says' };
  const options = { dataDir: path.join(dataRoot, 'postgres'), say, signal };
  const server = await step(
    'Postgres',
    () => startPostgres(options),
    ({ major, port }) => `version ${major}, port ${port}`,
  );
  running.add(server, lost('Postgres', server.logFile));
  return { url: server.url, shown: server.url };
}

async function bringUpRedis(running: Running, signal: AbortSignal): Promise<Store> {
  const own = given('REDIS_URL');
  if (own !== undefined) return { url: own, shown: 'as REDIS_URL says' };
  if (given('REDIS_CLUSTER_NODES') !== undefined) return { url: undefined, shown: 'as REDIS_CLUSTER_NODES says' };
  const options = { dataDir: path.join(dataRoot, 'redis'), say, signal };
  const server = await step(
    'Redis',
    () => startRedis(options),
    ({ port }) => `port ${port}`,
  );
  running.add(server, lost('Redis', server.logFile));
  return { url: server.url, shown: server.url };
}

/** The services go on without it, as they would elsewhere; so the run does too. */
function lost(name: string, logFile: string): string {
  return `${name} has ended (see ${logFile}). Stop and start again to bring it back.`;
}

function environment(addresses: Addresses, databaseUrl: string | undefined, redisUrl: string | undefined) {
  return {
    ...process.env,
    HOST: addresses.host,
    PORT: String(addresses.port),
    OPS_HOST: addresses.opsHost,
    OPS_PORT: String(addresses.opsPort),
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
    ...(canIssueTokens() ? { JWT_SECRET: jwtSecret() } : {}),
  };
}

interface ServicesOptions {
  running: Running;
  env: NodeJS.ProcessEnv;
  demo: DemoSetup;
  opsUrl: string;
  workerOpsUrl: string;
  signal: AbortSignal;
}

async function bringUpServices(options: ServicesOptions): Promise<Service[]> {
  const { running, env, demo, opsUrl, workerOpsUrl, signal } = options;
  const workerEnv = { ...env, OPS_PORT: new URL(workerOpsUrl).port };
  const worker = startService({ name: 'worker', main: 'apps/worker/main.js', env: workerEnv });
  running.add(worker.tethered);
  const apiEnv = { ...env, DEMO_DOMAIN: demo.domainId, DEMO_API_KEY: demo.apiKey };
  const api = startService({ name: 'api', main: 'apps/api/main.js', env: apiEnv });
  running.add(api.tethered);
  await Promise.all([untilReady(worker, workerOpsUrl, signal), untilReady(api, opsUrl, signal)]);
  return [api, worker];
}
