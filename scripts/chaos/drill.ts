/** A drill: a fault under load, its end, quiet, and a check of the promises. A breach keeps the processes' logs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildBefore } from '../release/before.ts';
import { describe } from '../stack/advice.ts';
import type { AssentProcess } from '../stack/assent-process.ts';
import { dataRoot } from '../stack/paths.ts';
import { waitUntil } from '../stack/wait.ts';
import { breaches, check, untilQuiet, type Verdict } from './check.ts';
import { watchCheckpoints } from './check-log.ts';
import type { EngineKind } from './engine.ts';
import { createLoad } from './load.ts';
import { startProxy } from './proxy.ts';
import { mountSmallDisk } from './small-disk.ts';
import { type ChaosStack, startChaosStack } from './stack.ts';

export interface Drill {
  name: string;
  about: string;
  quick?: boolean;
  /** It sends all that a small machine takes, so nothing runs beside it. */
  alone?: true;
  redisSettings?: Record<string, string>;
  /** what Redis is; by default one server */
  engine?: EngineKind;
  /** The stack begins with the release before this one. */
  upgrade?: true;
  /** records a second */
  rate?: number;
  /** A store gets a disk of that size. Where this machine does not allow it the drill is skipped, unless it goes on `without`. */
  smallDisk?: { of: 'postgres' | 'redis'; size: string; without?: true };
  /** The time to heal counts from its end, unless it says `healed` itself. */
  run: (scene: Scene) => Promise<void>;
  /** What else has to hold once all is quiet. */
  afterwards?: (scene: Scene) => Promise<void>;
}

export const drill = (name: string, about: string, run: Drill['run']): Drill => ({ name, about, run });
export const quick = (...drilled: Parameters<typeof drill>): Drill => ({ ...drill(...drilled), quick: true });

type Env = Record<string, string>;

export type Scene = ReturnType<typeof createScene>;

export interface Report {
  verdict?: Verdict;
  /** how many acknowledged records the drill may lose */
  mayLose?: number;
  secondsToHeal?: number;
  breaches: string[];
  skipped?: string;
}

/** Seconds: a worker's lock expires after 10, and another worker looks for such jobs every 3. */
const mayHealFor = 45;

export const hold = (seconds: number): Promise<void> => sleep(seconds * 1_000);

/** Rejects when `signal` aborts, after the drill's stack is down. */
export async function perform(drill: Drill, dist: string, signal: AbortSignal): Promise<Report> {
  const { name, redisSettings = {}, engine, smallDisk } = drill;
  const disk = smallDisk && mountSmallDisk(smallDisk.size);
  if (smallDisk && !smallDisk.without && !disk) return { breaches: [], skipped: 'not possible on this machine' };
  const folders = disk && { [`${smallDisk?.of}Folder`]: disk.folder };
  const before = drill.upgrade && (await buildBefore(signal));
  const stack = await startChaosStack({ dist, redisSettings, engine, before, ...folders });
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    if (signal.aborted) reject(signal.reason);
  });
  try {
    const report = await Promise.race([performOn(stack, drill, signal), interrupted]);
    if (report.breaches.length > 0) keepLogs(stack, name);
    return report;
  } finally {
    await stack.stop();
    disk?.undo();
  }
}

/** Keeps the output of our processes for whoever looks for the cause of a breach. */
function keepLogs(stack: ChaosStack, name: string): void {
  const folder = path.join(dataRoot, 'chaos-logs');
  mkdirSync(folder, { recursive: true });
  for (const [index, { lines, process }] of stack.processes.entries()) {
    const end = process.running() ? 'still running' : 'ended';
    writeFileSync(path.join(folder, `${name}-${index}.log`), [...lines, end, ''].join('\n'));
  }
  console.log(`the logs of ${name} are in ${folder}/${name}-*.log`);
}

/** The stack with a load, and what a drill does to it. */
function createScene(stack: ChaosStack, signal: AbortSignal, rate?: number) {
  const targets = new Set<AssentProcess>();
  const load = createLoad(stack.sites, () => [...targets].map((target) => target.baseUrl), rate);
  const found: string[] = [];
  let healedAt: number | undefined;
  /** Of this release, unless `from` is the build of another. */
  const api = async (env?: Env, from?: string) => {
    const started = await stack.start('api', env, from);
    targets.add(started);
    return started;
  };
  const worker = (env?: Env, from?: string) => stack.start('worker', env, from);
  return {
    ...stack,
    /** aborts when the run is interrupted */
    signal,
    load,
    checkpoints: watchCheckpoints(stack),
    /** the breaches of what the drill itself promises */
    found,
    /** How many records Postgres has to reject, how many acknowledged ones may be lost, and whether attempts may fail. */
    allowed: { rejected: 0, lost: 0, failures: true },
    secondsToHeal: () => (performance.now() - (healedAt ?? performance.now())) / 1_000,
    isHealed: () => healedAt !== undefined,
    api,
    worker,
    /** The usual beginning: one API, one worker, and a load that has been acknowledged. */
    begin: async (env: { api?: Env; worker?: Env } = {}) => {
      const started = await Promise.all([api(env.api), worker(env.worker)]);
      load.begin();
      await load.acknowledged(200);
      return { api: started[0], worker: started[1] };
    },
    /** As a load balancer does before a process stops. */
    takeOff: (target: AssentProcess) => void targets.delete(target),
    kill: async (target: AssentProcess) => {
      target.process.kill();
      await target.process.exited;
      targets.delete(target);
    },
    /** A proxy in front of a store, and the setting that leads a process through it. */
    proxy: async (store: 'redis' | 'postgres') => {
      const { url, port } = stack[store].running();
      const proxy = await startProxy(port);
      stack.onStop(proxy.close);
      const address = url.replace(`127.0.0.1:${port}`, `127.0.0.1:${proxy.port}`);
      const env: Env = { [store === 'redis' ? 'REDIS_URL' : 'DATABASE_URL']: address };
      return { ...proxy, env };
    },
    /** The fault is over and the time to heal starts. Resolves when that many more records were acknowledged. */
    healed: async (acknowledged = 0) => {
      healedAt = performance.now();
      await load.acknowledged(acknowledged);
    },
    expect: (holds: boolean, promise: string) => {
      if (!holds) found.push(promise);
    },
    /** Waits for a condition; it is a breach when it does not come. */
    until: async (probe: () => Promise<boolean> | boolean, promise: string, within = 30_000) => {
      if (!(await waitUntil(probe, { deadlineMs: within, intervalMs: 50 }))) found.push(promise);
    },
  };
}

async function performOn(stack: ChaosStack, drill: Drill, signal: AbortSignal): Promise<Report> {
  const scene = createScene(stack, signal, drill.rate);
  const { load, found } = scene;
  try {
    await drill.run(scene);
    if (!scene.isHealed()) await scene.healed(200);
    await load.end();
    await untilQuiet(stack);
    const secondsToHeal = scene.secondsToHeal();
    const verdict = await check(stack, load.attempts, scene.checkpoints);
    await drill.afterwards?.(scene);
    const { failures, ...allowed } = scene.allowed;
    const unmet = load.failedSince(0);
    scene.expect(secondsToHeal <= mayHealFor, `I5: it took ${secondsToHeal.toFixed(0)} s to heal`);
    scene.expect(failures || unmet === 0, `${unmet} attempts were not acknowledged`);
    return { verdict, mayLose: allowed.lost, secondsToHeal, breaches: [...found, ...breaches(verdict, allowed)] };
  } catch (error) {
    await load.end();
    return { breaches: [...found, describe(error)] };
  } finally {
    await scene.checkpoints.stop();
  }
}
