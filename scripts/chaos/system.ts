/** APIs and workers that are started again and again, as by a supervisor, and what can happen to every part. */
import { randomBytes } from 'node:crypto';
import { countJobs } from './check.ts';
import {
  type End,
  fillDisk,
  fillRedis,
  freeze,
  kill,
  lockTable,
  makeReadOnly,
  restart,
  untilStarted,
} from './faults.ts';
import { type faults, type Kind, type PlannedFault, processes, stores } from './random/plan.ts';
import { type Env, hold, need, type Scene } from './scene.ts';
import type { AppProcess } from './stack.ts';

/** milliseconds in each direction */
const delay = 150;
/** milliseconds between two cuts */
const cutEvery = 500;

type Begin = () => Promise<End> | End;
type FaultsOf<Name extends Kind> = Record<keyof (typeof faults)[Name], Begin>;
/** What can happen to each part. */
export type Parts = Map<string, Record<string, Begin>>;

/** Two of each, and a load. `env`: settings of all of them, which lead past the proxies where they name a store. */
export async function startSystem(scene: Scene, env: Env = {}): Promise<Parts> {
  const { postgres, redis } = scene;
  const parts: Parts = new Map();
  const secrets = { SECRETS_KEY: randomBytes(32).toString('hex'), WEBHOOK_ALLOW_PRIVATE: 'true' };
  for (const name of processes) {
    const links: Env = {};
    for (const store of scene.cluster || scene.sentinels ? [] : stores) {
      const proxy = await scene.proxy(store);
      Object.assign(links, proxy.env);
      parts.set(`${name} to ${store}`, faultsOfLink(proxy));
    }
    parts.set(name, await supervise(scene, name, { ...links, ...secrets, ...env }));
  }
  parts.set('postgres', {
    kill: () => kill(postgres),
    freeze: () => freeze(postgres),
    restart: () => restart(postgres),
    away: () => kill(postgres),
    disk: () => fillDisk(scene, 'postgres'),
    lock: () => lockTable(scene, 'counters'),
  } satisfies FaultsOf<'postgres'>);
  parts.set('redis', {
    kill: () => kill(redis),
    freeze: () => freeze(redis),
    restart: () => restart(redis),
    away: () => kill(redis),
    disk: () => fillDisk(scene, 'redis'),
    memory: () => fillRedis(scene, 0.95),
    readOnly: () => makeReadOnly(scene),
  } satisfies FaultsOf<'redis'>);
  scene.load.begin();
  scene.alongside({ work: () => expectNoAttemptUsed(scene) });
  return parts;
}

/** An outage is no attempt: the jobs stay with the worker. */
async function expectNoAttemptUsed(scene: Scene): Promise<void> {
  const { delayed, failed } = await countJobs(scene).catch(() => ({ delayed: 0, failed: 0 }));
  scene.expect(delayed + failed === 0, `I5: ${delayed + failed} jobs used up an attempt on an outage`);
}

function faultsOfLink({ set, cut }: Awaited<ReturnType<Scene['proxy']>>): FaultsOf<'link'> {
  const change = (weather: 'hold' | number) => () => {
    set(weather);
    return () => set('pass');
  };
  const cutAgain = () => {
    const cutting = setInterval(cut, cutEvery);
    cut();
    return () => clearInterval(cutting);
  };
  return { silence: change('hold'), slow: change(delay), cut: cutAgain };
}

async function supervise(scene: Scene, name: string, env: Env): Promise<FaultsOf<'process'>> {
  const app = name.startsWith('api') ? 'api' : 'worker';
  let running: AppProcess | undefined;
  const start = async (): Promise<void> => {
    const started = await untilStarted(() => scene.start(app, env));
    running = started;
    if (app === 'api') scene.apis.add(started);
    void started.process.exited.then(({ code, signal }) => {
      scene.expect(running !== started, `${name} ended by itself: ${code ?? signal}`);
    });
  };
  const endBy = (end: (ending: AppProcess) => Promise<unknown>) => async () => {
    const ending = need(running);
    running = undefined;
    await end(ending);
    return async () => {
      await start();
      // until now clients went on to ask it: they find out by themselves that nobody is there
      scene.apis.delete(ending);
    };
  };
  await start();
  return {
    kill: endBy(({ process: child }) => {
      child.kill();
      return child.exited;
    }),
    restart: endBy(async ({ process: child }) => {
      const { code } = await child.stop();
      scene.expect(code === 0, `${name} ends with ${code}, not 0`);
    }),
    freeze: () => {
      const frozen = need(running);
      frozen.freeze();
      return frozen.thaw;
    },
  };
}

/** Resolves when every part is back. */
export async function perform(parts: Parts, plan: PlannedFault[]): Promise<void> {
  const started = performance.now();
  const until = (second: number) => hold(Math.max(0, second - (performance.now() - started) / 1_000));
  const say = (part: string, what: string) => {
    const second = ((performance.now() - started) / 1_000).toFixed(1);
    console.log(`${second.padStart(7)} s  ${new Date().toISOString().slice(11, 23)}  ${part.padEnd(20)} ${what}`);
  };
  const back = new Map<string, Promise<void>>();
  for (const { part, what, from, to } of plan) {
    await until(from);
    const before = back.get(part);
    const work = async () => {
      // it may take longer to come back than the plan knows
      await before;
      say(part, `${what}, ${(to - from).toFixed(1)} s`);
      const end = await need(parts.get(part)?.[what])();
      await until(to);
      await end();
      say(part, 'is back');
    };
    const performed = work();
    // what fails is thrown below
    performed.catch(() => {});
    back.set(part, performed);
  }
  await Promise.all(back.values());
}
