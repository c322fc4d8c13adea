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
import { onFreePorts } from './on-free-ports.ts';
import { say, step } from './progress.ts';
import type { Running } from './running.ts';
import { type Service, startService, untilReady } from './service.ts';
import type { SummaryFacts } from './summary.ts';

export interface Up {
  facts: SummaryFacts;
  services: Service[];
}

export async function bringUp(running: Running, signal: AbortSignal): Promise<Up> {
  // what is wrong with the user's own ports is told at once
  await chooseAddresses();
  await step('build', () => build('dist', signal));
  const database = await bringUpPostgres(running, signal);
  const redis = await bringUpRedis(running, signal);
  const env = environment(database.url, redis.url);

  const cli = createCli(env, signal);
  await step('migrate', () => cli.run('migrate'));
  const demo = await step('demo', () => ensureDemo(cli));
  const token = canIssueTokens() ? await issueToken(cli, demo.organizationId) : null;

  const { services, workerOpsUrl, ...address } = await step('services', () =>
    onFreePorts((addresses) => bringUpServices({ running, env, demo, addresses, signal })),
  );

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

function environment(databaseUrl: string | undefined, redisUrl: string | undefined) {
  return {
    ...process.env,
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
    ...(canIssueTokens() ? { JWT_SECRET: jwtSecret() } : {}),
  };
}

interface ServicesOptions {
  running: Running;
  env: NodeJS.ProcessEnv;
  demo: DemoSetup;
  addresses: Addresses;
  signal: AbortSignal;
}

async function bringUpServices({ running, env, demo, addresses, signal }: ServicesOptions) {
  const { host, port, opsHost, opsPort, workerOpsPort } = addresses;
  const listening = { ...env, HOST: host, PORT: String(port), OPS_HOST: opsHost, OPS_PORT: String(opsPort) };
  const opsUrl = baseUrl(opsHost, opsPort);
  const workerOpsUrl = baseUrl(opsHost, workerOpsPort);
  publishSettings(listening);
  const workerEnv = { ...listening, OPS_PORT: String(workerOpsPort) };
  const worker = startService({ name: 'worker', main: 'apps/worker/main.js', env: workerEnv });
  running.add(worker.tethered);
  const apiEnv = { ...listening, DEMO_DOMAIN: demo.domainId, DEMO_API_KEY: demo.apiKey };
  const api = startService({ name: 'api', main: 'apps/api/main.js', env: apiEnv });
  running.add(api.tethered);
  const services = [api, worker];
  try {
    await Promise.all([untilReady(worker, workerOpsUrl, signal), untilReady(api, opsUrl, signal)]);
  } catch (error) {
    await Promise.all(services.map(({ tethered }) => tethered.stop()));
    throw error;
  }
  return { baseUrl: baseUrl(host, port), opsUrl, workerOpsUrl, services };
}
