/** The API and the worker as processes of `npm start`. */
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { Advice } from '../stack/advice.ts';
import { answersReady, launch } from '../stack/assent-process.ts';
import { dataRoot, root } from '../stack/paths.ts';
import { lastLines, type Tethered } from '../stack/tether.ts';
import { waitUntil } from '../stack/wait.ts';
import { PortTaken } from './addresses.ts';

interface Service {
  name: string;
  logFile: string;
  tethered: Tethered;
}

/** Long, since the machine may be busy. */
const READY_MS = 60_000;

/** Starts one of our processes with its log in a file. */
export function startService(name: 'api' | 'worker', env: NodeJS.ProcessEnv): Service {
  const logFile = path.join(dataRoot, 'logs', `${name}.log`);
  mkdirSync(path.dirname(logFile), { recursive: true, mode: 0o700 });
  // the log of the previous run is often the one that is needed
  if (existsSync(logFile)) renameSync(logFile, path.join(dataRoot, 'logs', `${name}.previous.log`));
  const { process: tethered } = launch(path.join(root, 'dist'), name, env, [], logFile);
  return { name, logFile, tethered };
}

export async function untilReady(service: Service, opsUrl: string, signal: AbortSignal): Promise<void> {
  const probe = async () => {
    if (!service.tethered.running()) throw await failure(service);
    return answersReady(opsUrl);
  };
  if (await waitUntil(probe, { deadlineMs: READY_MS, intervalMs: 50, signal })) return;
  throw new Advice(withLog(service, `${service.name} is not ready after ${READY_MS / 1000} s.`));
}

/** Describes a service that ended by itself. */
export async function failure(service: Service): Promise<Advice> {
  const { code, signal } = await service.tethered.exited;
  const message = withLog(service, `${service.name} ended (${signal ?? `exit code ${code}`}).`);
  return /^(OPS_)?PORT \d+ on \S+ is taken$/m.test(message) ? new PortTaken(message) : new Advice(message);
}

function withLog({ logFile }: Service, what: string): string {
  return `${what} The end of ${path.relative(root, logFile)}:\n${lastLines(readFileSync(logFile, 'utf8'))}`;
}
