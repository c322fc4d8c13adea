/** The API and the worker: in the test's own process, or, for signals and exit codes, as processes from the build. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { inject } from 'vitest';
import type { Running } from '#libs/base/lifecycle';
import { createLog } from '#libs/base/ops/process-log';
import type { Cost } from '#libs/people/passwords';
import type { SharedSlots } from '#libs/tenants/shared-slots';
import { openApi } from '../../apps/api/serve.ts';
import { readApiConfig } from '../../apps/settings/api.ts';
import { readWorkerConfig } from '../../apps/settings/worker.ts';
import { openWorker } from '../../apps/worker/open.ts';
import { launch } from '../../scripts/stack/assent-process.ts';
import { type App, loginAt } from '../../scripts/stack/logins.ts';
import type { Exit, Tethered } from '../../scripts/stack/tether.ts';
import { atEnd } from './at-end.ts';
import { apiSettings, workerSettings } from './settings.ts';
import { readStarted } from './started.ts';
import { repairs } from './uncaught.ts';
import { eventually } from './wait.ts';

interface Logged {
  /** every line that it wrote */
  lines: string[];
  /** the fields of each log line of this event so far */
  events(event: string): Record<string, unknown>[];
  /** the fields of the first log line of this event, once it is there */
  logged(event: string): Promise<Record<string, unknown>>;
}

function readLines(lines: string[]): Logged {
  const events = (event: string) =>
    lines
      .filter((line) => line.includes(`"event":"${event}"`))
      .map((line): Record<string, unknown> => JSON.parse(line));
  return {
    lines,
    events,
    logged: (event) =>
      eventually(() => {
        const [found] = events(event);
        if (!found) throw new Error(`"${event}" was not logged:\n${lines.slice(-20).join('\n')}`);
        return found;
      }),
  };
}

export interface Addresses {
  baseUrl: string;
  opsUrl: string;
}

export interface Worker extends Logged {
  opsUrl: string;
  /** Resolves to whether everything stopped without an error. */
  stop(): Promise<boolean>;
}

export interface Api extends Worker, Addresses {}

type Env = Record<string, string>;

/**
 * On the server of the run API and worker have a login each, with no more rights than they need: there every test of what
 * they do also tests that they may.
 */
function asLogin(app: App, env: Env): Env {
  const { postgresUrl } = readStarted(inject('folder'));
  const isOfRun = (url: string) => URL.canParse(url) && new URL(url).password === new URL(postgresUrl).password;
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      name.startsWith('DATABASE_') && isOfRun(value) ? loginAt(value, app) : value,
    ]),
  );
}

const addressOf = (port: unknown): string => `http://127.0.0.1:${port}`;

/** A log whose lines a test may read. */
function openLog(name: string, level: string) {
  const lines: string[] = [];
  return { ...readLines(lines), log: createLog(name, level, { destination: { write: (line) => lines.push(line) } }) };
}

function untilStopped(opened: Running): () => Promise<boolean> {
  repairs.add(opened.recover);
  return () => opened.stop().finally(() => repairs.delete(opened.recover));
}

interface ApiOptions {
  /** another build than that of the run */
  dist?: string;
  /** to look at them */
  slots?: SharedSlots;
  /** of hashing passwords; by default it takes no time */
  passwordCost?: Cost;
}

/** In this process, until `stop`, or the end of the file. */
export async function startApi(env: Record<string, string>, options?: ApiOptions): Promise<Api> {
  const api = await runApi(env, options);
  atEnd(api.stop);
  return api;
}

/** In this process, until `stop`. */
export async function runApi(
  env: Record<string, string>,
  { dist = inject('dist'), ...options }: ApiOptions = {},
): Promise<Api> {
  const config = readApiConfig({ ...apiSettings, ...asLogin('api', env) });
  const { log, ...logged } = openLog('api', config.logLevel);
  const build = pathToFileURL(path.join(dist, 'apps/'));
  const api = await openApi(config, { build, log, drain: 0, passwordCost: { log2n: 10, r: 8, p: 1 }, ...options });
  return { ...logged, baseUrl: addressOf(api.port), opsUrl: addressOf(api.opsPort), stop: untilStopped(api) };
}

/**
 * Milliseconds of a second of the worker's rounds: tests wait for them, and nobody is promised that they are seldom. Sooner
 * they would take more of the processors than the waiting does: at 200, that of one worker which has nothing to do took 6 %.
 */
const second = 300;

/** In this process, until `stop`, or the end of the file. */
export async function startWorker(env: Record<string, string>): Promise<Worker> {
  const worker = await runWorker(env, second);
  atEnd(worker.stop);
  return worker;
}

/** In this process, until `stop`. `second`: see `openWorker`. */
export async function runWorker(env: Record<string, string>, second?: number): Promise<Worker> {
  const config = readWorkerConfig({ ...workerSettings, ...asLogin('worker', env) });
  const { log, ...logged } = openLog('worker', config.logLevel);
  const worker = await openWorker(config, { log, ...(second !== undefined && { second }) });
  return { ...logged, opsUrl: addressOf(worker.opsPort), stop: untilStopped(worker) };
}

export interface Service extends Logged {
  process: Tethered;
  stop(signal?: NodeJS.Signals): Promise<Exit>;
}

export interface ApiProcess extends Service, Addresses {}
export interface WorkerProcess extends Service {
  opsUrl: string;
}

export function startProcess(main: string, env: Record<string, string>, args: string[] = []): Service {
  const { process: child, lines } = launch(inject('dist'), main, { PATH: process.env.PATH, ...env }, args);
  atEnd(() => {
    child.kill();
    return child.exited;
  });
  return { ...readLines(lines), process: child, stop: (signal) => child.stop(signal) };
}

export async function startApiProcess(env: Record<string, string>): Promise<ApiProcess> {
  const service = startProcess('api', { ...apiSettings, ...asLogin('api', env) });
  const { port, opsPort } = await service.logged('listening');
  const ops = opsPort ?? opsPortOfPrimary(service.lines);
  return { ...service, baseUrl: addressOf(port), opsUrl: addressOf(ops) };
}

/** Of several processes the first serves the operations port, and reports it before it starts the others. */
function opsPortOfPrimary(lines: string[]): number {
  const line = lines.find((each) => each.includes('"msg":"forking"'));
  return (JSON.parse(line ?? '{}') as { opsPort: number }).opsPort;
}

export async function startWorkerProcess(env: Record<string, string>): Promise<WorkerProcess> {
  const service = startProcess('worker', { ...workerSettings, ...asLogin('worker', env) });
  const { opsPort } = await service.logged('working');
  return { ...service, opsUrl: addressOf(opsPort) };
}
