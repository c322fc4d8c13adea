/** A drill: a fault under load, its end, quiet, and what the promises say of it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AssentProcess } from '../stack/assent-process.ts';
import { dataRoot } from '../stack/paths.ts';
import { waitUntil } from '../stack/wait.ts';
import { breaches, check, untilQuiet, type Verdict } from './check.ts';
import { createLoad, type Load } from './load.ts';
import { startProxy, type TcpProxy } from './proxy.ts';
import { type ChaosStack, startChaosStack } from './stack.ts';

export interface Drill {
  name: string;
  /** the fault, in a few words */
  about: string;
  /** part of `--quick` */
  quick?: boolean;
  redisSettings?: Record<string, string>;
  /** what Postgres is meant to refuse in this drill */
  rejected?: number;
  /** every attempt is to be acknowledged: what is away has a stand-in */
  refusesNothing?: boolean;
  /** a setting that may lose what it acknowledged: reported, not a breach */
  mayLose?: boolean;
  /** Returns where Postgres' folder is to be, for a drill that needs a special one; undefined: the drill cannot run here. */
  prepare?: () => Promise<{ postgresFolder: string; undo: () => Promise<void> } | undefined>;
  run: (scene: Scene) => Promise<void>;
}

export interface Scene {
  stack: ChaosStack;
  load: Load;
  /** Starts a process; an API joins the targets of the load. */
  api(env?: Record<string, string>): Promise<AssentProcess>;
  worker(env?: Record<string, string>): Promise<AssentProcess>;
  /** A proxy in front of a port, gone with the drill. */
  proxy(port: number): Promise<TcpProxy>;
  /** the API processes that the load may use */
  targets: AssentProcess[];
  /** The fault is over; from here the time to heal is counted. */
  healed(): void;
  /** A breach of what the drill itself promises. */
  expect(holds: boolean, promise: string): void;
  /** Waits for a condition of the drill; a breach when it does not come. */
  until(probe: () => Promise<boolean> | boolean, promise: string, within?: number): Promise<void>;
}

export interface Report {
  name: string;
  about: string;
  verdict?: Verdict;
  secondsToHeal?: number;
  breaches: string[];
  skipped?: string;
}

/** Seconds: a worker's lock runs out after 10, and another one looks for such jobs every 3. */
const mayHealFor = 45;

/** The usual beginning: one API, one worker, and a load that has been acknowledged. */
export async function begin(scene: Scene): Promise<{ api: AssentProcess; worker: AssentProcess }> {
  const [api, worker] = await Promise.all([scene.api(), scene.worker()]);
  scene.load.begin();
  await scene.load.acknowledged(200);
  return { api, worker };
}

export const hold = (seconds: number): Promise<void> => sleep(seconds * 1_000);

/** Rejects when `signal` aborts, after the drill's stack is down. */
export async function perform(drill: Drill, dist: string, signal: AbortSignal): Promise<Report> {
  const { name, about } = drill;
  const prepared = drill.prepare ? await drill.prepare() : { postgresFolder: undefined, undo: async () => {} };
  if (!prepared) return { name, about, breaches: [], skipped: 'not possible on this machine' };
  const { postgresFolder, undo } = prepared;
  const stack = await startChaosStack({
    dist,
    ...(postgresFolder && { postgresFolder }),
    ...(drill.redisSettings && { redisSettings: drill.redisSettings }),
  });
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    if (signal.aborted) reject(signal.reason);
  });
  try {
    const report = await Promise.race([performOn(stack, drill), interrupted]);
    if (report.breaches.length > 0) keepLogs(stack, name);
    return report;
  } finally {
    await stack.stop();
    await undo();
  }
}

/** What our processes wrote, for whoever looks for the cause of a breach. */
function keepLogs(stack: ChaosStack, name: string): void {
  const folder = path.join(dataRoot, 'chaos-logs');
  mkdirSync(folder, { recursive: true });
  for (const [index, { lines, process }] of stack.processes.entries()) {
    const end = process.running() ? 'still running' : 'ended';
    writeFileSync(path.join(folder, `${name}-${index}.log`), [...lines, end, ''].join('\n'));
  }
  console.log(`the processes of ${name} wrote ${folder}/${name}-*.log`);
}

async function performOn(stack: ChaosStack, drill: Drill): Promise<Report> {
  const targets: AssentProcess[] = [];
  const load = createLoad(stack.sites, () => targets.map((target) => target.baseUrl));
  const found: string[] = [];
  let healedAt = performance.now();
  const scene: Scene = {
    stack,
    load,
    targets,
    api: async (env) => {
      const started = await stack.startApi(env);
      targets.push(started);
      return started;
    },
    worker: (env) => stack.startWorker(env),
    proxy: async (port) => {
      const proxy = await startProxy(port);
      stack.onStop(() => proxy.close());
      return proxy;
    },
    healed: () => {
      healedAt = performance.now();
    },
    expect: (holds, promise) => {
      if (!holds) found.push(promise);
    },
    until: async (probe, promise, within = 30_000) => {
      if (!(await waitUntil(probe, { deadlineMs: within, intervalMs: 50 }))) found.push(promise);
    },
  };
  const { name, about } = drill;
  try {
    await drill.run(scene);
    await load.end();
    await untilQuiet(stack);
    const secondsToHeal = (performance.now() - healedAt) / 1_000;
    const verdict = await check(stack, load.attempts);
    const allowed = { rejected: drill.rejected ?? 0, lost: drill.mayLose ?? false };
    const unmet = verdict.attempts - verdict.acknowledged;
    const late = secondsToHeal > mayHealFor;
    scene.expect(!late, `I5: it took ${secondsToHeal.toFixed(0)} s to heal`);
    scene.expect(!drill.refusesNothing || unmet === 0, `${unmet} attempts were not acknowledged`);
    return { name, about, verdict, secondsToHeal, breaches: [...found, ...breaches(verdict, allowed)] };
  } catch (error) {
    await load.end();
    return { name, about, breaches: [...found, error instanceof Error ? error.message : String(error)] };
  }
}
