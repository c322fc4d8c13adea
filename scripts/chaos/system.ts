/** APIs and workers that are started again and again, as by a supervisor, and what can happen to every part. */
import type { Clock } from './clocks.ts';
import * as fault from './faults.ts';
import { need } from './load.ts';
import { countJobs } from './quiet.ts';
import { type faults, type Kind, type PlannedFault, processes, stores } from './random/plan.ts';
import { type Env, hold, type Scene } from './scene.ts';
import { type AppProcess, webhookSettings } from './stack.ts';

/** milliseconds in each direction */
const delay = 150;
/** milliseconds between two cuts */
const cutEvery = 500;
/** Milliseconds by which clocks go wrong: more than records may be late or early, and more than they are kept. */
const minutes = 10 * 60_000;
const days = 1_200 * 86_400_000;
/** seconds until everybody has looked at a clock that was set */
const untilSeen = 2;

type Begin = () => Promise<fault.End> | fault.End;
type FaultsOf<Name extends Kind> = Record<keyof (typeof faults)[Name], Begin>;
/** What can happen to each part. */
type Parts = Map<string, Record<string, Begin>>;

/** Two of each, and a load. `env`: settings of all of them. `links`: they reach the stores through proxies. */
export async function startSystem(scene: Scene, { env = {}, links = false }: { env?: Env; links?: boolean } = {}) {
  const parts: Parts = new Map();
  const secrets = webhookSettings();
  for (const name of processes) {
    const addresses: Env = {};
    for (const store of links ? stores : []) {
      const proxy = await scene.proxy(store);
      Object.assign(addresses, proxy.env);
      parts.set(`${name} to ${store}`, faultsOfLink(proxy));
    }
    parts.set(name, await supervise(scene, name, { ...addresses, ...secrets, ...env }));
  }
  parts.set('postgres', {
    ...faultsOfStore(scene, 'postgres'),
    ...faultsOfClock(scene, scene.postgresClock, () => fault.restart(scene.postgres)),
    lock: () => fault.lockTable(scene, 'counters'),
  } satisfies FaultsOf<'postgres'> & FaultsOf<'clock'>);
  parts.set('redis', {
    ...faultsOfStore(scene, 'redis'),
    memory: () => fault.fillRedis(scene, 0.95),
    readOnly: () => fault.makeReadOnly(scene),
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

const faultsOfStore = (scene: Scene, store: fault.Store) => ({
  kill: () => fault.kill(scene[store]),
  freeze: () => fault.freeze(scene[store]),
  restart: () => fault.restart(scene[store]),
  away: () => fault.kill(scene[store]),
  disk: () => fault.fillDisk(scene, store),
});

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

/** `stop`: the first half of a restart, which is the fault where no clock can be set. */
function faultsOfClock(scene: Scene, clock: Clock | undefined, stop: () => Promise<fault.End>): FaultsOf<'clock'> {
  const { clocks } = scene;
  const step =
    (ahead: number, isStarted = false) =>
    async () => {
      if (!clock) return stop();
      const start = isStarted ? await stop() : () => {};
      clocks.steps += 1;
      clocks.wrong += 1;
      clock.set(ahead);
      await start();
      return async () => {
        clock.set(0);
        await hold(untilSeen);
        clocks.wrong -= 1;
      };
    };
  return {
    minutesAhead: step(minutes),
    minutesBehind: step(-minutes),
    daysAhead: step(days),
    daysBehind: step(-days),
    startsDaysAhead: step(days, true),
  };
}

async function supervise(scene: Scene, name: string, given: Env): Promise<FaultsOf<'process'> & FaultsOf<'clock'>> {
  const app = name.startsWith('api') ? 'api' : 'worker';
  const clock = scene.makeClock(name);
  const env = { ...given, ...clock?.env };
  let running: AppProcess | undefined;
  const start = async (): Promise<void> => {
    const started = await fault.untilStarted(() => scene.start(app, env));
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
  const stop = endBy(async ({ process: child }) => {
    const { code } = await child.stop();
    scene.expect(code === 0, `${name} ends with ${code}, not 0`);
  });
  await start();
  return {
    kill: endBy(({ process: child }) => {
      child.kill();
      return child.exited;
    }),
    restart: stop,
    ...faultsOfClock(scene, clock, stop),
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
  let hasFailed = false;
  for (const { part, what, from, to } of plan) {
    await until(from);
    // a part that cannot come back fails the drill, and all that follows would only say so again
    if (hasFailed) break;
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
    performed.catch(() => {
      hasFailed = true;
    });
    back.set(part, performed);
  }
  await Promise.all(back.values());
}
