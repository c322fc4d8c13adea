/** A stack with a load, what goes on beside it, and what a drill does to them. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { waitUntil } from '../stack/wait.ts';
import { createLoad, need } from './load.ts';
import { watchCheckpoints } from './sealed-log.ts';
import type { AppProcess, ChaosStack } from './stack.ts';

export type Env = Record<string, string>;
export type Scene = ReturnType<typeof createScene>;

/** What goes on beside the load: `work` again and again, with `pause` milliseconds between. */
export interface Activity {
  pause?: number;
  work?: () => Promise<void>;
  /** Once all is quiet: compares what it has seen with what is stored. */
  check?: () => Promise<void> | void;
}

export const hold = (seconds: number): Promise<void> => sleep(seconds * 1_000);

/** One site of each organization. */
export const oneOfEach = ({ sites }: Pick<ChaosStack, 'sites'>) => [
  ...new Map(sites.map((site) => [site.organizationId, site])).values(),
];

/** `hold`: connections stay open, and bytes are lost. A number: milliseconds of delay. */
type Weather = 'pass' | 'hold' | number;

export async function startProxy(target: number) {
  const thread = new Worker(new URL('proxy-thread.mjs', import.meta.url), { workerData: target });
  const [port] = await once(thread, 'message');
  return {
    port: Number(port),
    set: (weather: Weather) => thread.postMessage(weather),
    cut: () => thread.postMessage('cut'),
    close: () => thread.terminate(),
  };
}

export function createScene(stack: ChaosStack, signal: AbortSignal, rate?: number) {
  /** that take requests, as far as a load balancer knows */
  const apis = new Set<AppProcess>();
  const drawApi = () => [...apis][Math.floor(Math.random() * apis.size)];
  const load = createLoad(stack.sites, drawApi, rate);
  /** the breaches of what the drill itself promises */
  const found: string[] = [];
  const checks: (() => Promise<void> | void)[] = [];
  const working: Promise<void>[] = [];
  let isOver = false;
  const expect = (holds: boolean, promise: string) => {
    if (!holds) found.push(promise);
  };
  /** Of this release, unless `from` is the build of another. */
  const api = async (env?: Env, from?: string) => {
    const started = await stack.start('api', env, from);
    apis.add(started);
    return started;
  };
  const worker = (env?: Env, from?: string) => stack.start('worker', env, from);
  return {
    ...stack,
    /** aborts when the run is interrupted */
    signal,
    load,
    checkpoints: watchCheckpoints(stack),
    found,
    apis,
    /** how many are wrong now, and how often one went wrong */
    clocks: { wrong: 0, steps: 0 },
    anyApi: () => need(drawApi()),
    api,
    worker,
    /** The usual beginning: one API, one worker, and a load that has been acknowledged. */
    begin: async (env: { api?: Env; worker?: Env } = {}) => {
      const started = await Promise.all([api(env.api), worker(env.worker)]);
      load.begin();
      await load.acknowledged(200);
      return { api: started[0], worker: started[1] };
    },
    kill: async (target: AppProcess) => {
      target.process.kill();
      await target.process.exited;
      apis.delete(target);
    },
    /** As an operator does: off the load balancer's list, then SIGTERM. */
    stopProcess: async (target: AppProcess) => {
      apis.delete(target);
      const { code } = await target.process.stop();
      expect(code === 0, `a process ends with ${code}, not 0`);
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
    expect,
    /** Waits for a condition; it is a breach when it does not come. */
    until: async (probe: () => Promise<boolean>, promise: string, within = 60_000) => {
      // what is asked may be away
      const holds = () => probe().catch(() => false);
      expect(await waitUntil(holds, { deadlineMs: within, intervalMs: 50 }), promise);
    },
    alongside: ({ pause = 1_000, work, check = () => {} }: Activity) => {
      const loop = async () => {
        while (work && !isOver && !signal.aborted) {
          await work().catch((error: unknown) => expect(false, `beside the faults: ${error}`));
          await sleep(pause);
        }
      };
      checks.push(check);
      working.push(loop());
    },
    /** Resolves once nothing is under way any more. */
    end: async () => {
      isOver = true;
      await Promise.all(working);
      await load.end();
    },
    /** of what went on */
    checks,
    /** Ends what goes on, whatever it has reached. */
    abandon: () => {
      isOver = true;
      load.abandon();
    },
  };
}
