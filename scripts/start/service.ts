/** One of our processes, with its log in a file, from its start until it says that it is ready. */
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { Advice } from '../stack/advice.ts';
import { answersReady, launch } from '../stack/assent-process.ts';
import { lastLines } from '../stack/command.ts';
import { dataRoot, root } from '../stack/paths.ts';
import type { Tethered } from '../stack/tether.ts';
import { waitUntil } from '../stack/wait.ts';

interface Service {
  name: string;
  logFile: string;
  tethered: Tethered;
}

/** Another process was quicker. */
export class PortTaken extends Advice {}

/** A machine that is busy with something else takes its time. */
const READY_MS = 60_000;

export function startService(name: 'api' | 'worker', env: NodeJS.ProcessEnv): Service {
  const logFile = path.join(dataRoot, 'logs', `${name}.log`);
  mkdirSync(path.dirname(logFile), { recursive: true, mode: 0o700 });
  // The run before is often the one to look at.
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

/** What to show when it ended although nobody asked it to. */
export async function failure(service: Service): Promise<Advice> {
  const { code, signal } = await service.tethered.exited;
  const message = withLog(service, `${service.name} ended (${signal ?? `exit code ${code}`}).`);
  return /^(OPS_)?PORT \d+ on \S+ is taken$/m.test(message) ? new PortTaken(message) : new Advice(message);
}

function withLog({ logFile }: Service, what: string): string {
  return `${what} The end of ${path.relative(root, logFile)}:\n${lastLines(readFileSync(logFile, 'utf8'))}`;
}
