/** A random run: the plan's faults under load, with everything else that an installation does going on meanwhile. */
import { randomBytes } from 'node:crypto';
import { type Drill, hold, type Scene } from '../drill.ts';
import { startClients } from './clients.ts';
import { startErasures } from './erasures.ts';
import { startExports } from './exports.ts';
import { startImports } from './imports.ts';
import { type LinkName, makePlan, type PlannedFault, type ProcessName, processNames, storeNames } from './plan.ts';
import { type Supervised, supervise } from './processes.ts';
import { startProofs } from './proofs.ts';
import { startReader } from './reader.ts';
import { breakLink, breakStore } from './stores.ts';
import { startWebhooks } from './webhooks.ts';

/** Postgres' write-ahead log alone takes some hundred megabytes. */
const diskSize = '700m';

export function randomDrill({ seed, minutes }: { seed: number; minutes: number }): Drill {
  const plan = makePlan(seed, minutes);
  const again = `npm run chaos -- --random --minutes ${minutes} --seed ${seed}`;
  let afterwards: (scene: Scene) => Promise<void> = async () => {};
  return {
    name: `random-${seed}`,
    about: again,
    // as text, which can be searched for erased visitors
    redisSettings: { 'aof-use-rdb-preamble': 'no' },
    smallDisk: { of: 'postgres', size: diskSize, without: true },
    run: async (scene) => {
      const hasSmallDisk = !scene.postgres.running().dataDir.startsWith(scene.folder);
      if (!hasSmallDisk) console.log('no small disk can be mounted here: instead of filling it, Postgres is killed');
      console.log(`${plan.length} faults; once more: ${again}`);
      const system = await startSystem(scene, hasSmallDisk);
      const others = await startOthers(scene, system.apis);
      await perform(plan, minutes, system.begin);
      await others.end();
      await scene.healed();
      afterwards = others.check;
    },
    afterwards: (scene) => afterwards(scene),
  };
}

type End = () => Promise<unknown> | unknown;
type Begin = (fault: PlannedFault) => Promise<End>;

async function startSystem(scene: Scene, hasSmallDisk: boolean) {
  const secrets = { SECRETS_KEY: randomBytes(32).toString('hex'), WEBHOOK_ALLOW_PRIVATE: 'true' };
  const proxies = new Map<LinkName, Awaited<ReturnType<Scene['proxy']>>>();
  const supervised = new Map<ProcessName, Supervised>();
  for (const name of processNames) {
    const env: Record<string, string> = { ...secrets };
    for (const store of storeNames) {
      const proxy = await scene.proxy(store);
      proxies.set(`${name} to ${store}`, proxy);
      Object.assign(env, proxy.env);
    }
    supervised.set(name, await supervise(scene, name, env));
  }
  const begin: Begin = async (fault) => {
    if (isOfStore(fault)) return breakStore(scene, fault, hasSmallDisk);
    if (isOfProcess(fault)) return need(supervised.get(fault.part)).begin(fault);
    return breakLink(need(proxies.get(fault.part)), fault);
  };
  return { begin, apis: [...supervised.values()].filter(({ name }) => name.startsWith('api')) };
}

const among = (names: readonly string[], name: string): boolean => names.includes(name);
const isOfProcess = (fault: PlannedFault): fault is Extract<PlannedFault, { part: ProcessName }> =>
  among(processNames, fault.part);
const isOfStore = (fault: PlannedFault): fault is Extract<PlannedFault, { part: (typeof storeNames)[number] }> =>
  among(storeNames, fault.part);

function need<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('there is no such part');
  return value;
}

/** All that goes on beside the faults; `check` compares what each of them has seen with what is stored, once all is quiet. */
async function startOthers(scene: Scene, apis: Supervised[]) {
  const erased = new Map<string, number>();
  const webhooks = await startWebhooks(scene, apis, erased);
  const clients = startClients(scene, apis);
  const others = [
    startErasures(scene, apis, clients, erased),
    startImports(scene, apis),
    startExports(scene, apis),
    startReader(scene, apis),
    startProofs(scene, apis),
    webhooks,
  ];
  return {
    end: async () => {
      await clients.end();
      await Promise.all(others.map((other) => other.end()));
    },
    check: async () => {
      for (const other of others) await other.check();
      const unforeseen = /"event":"bug"|"msg":"(unhandled|records could not be stored)/;
      const bugs = scene.processes.flatMap(({ lines }) => lines.filter((line) => unforeseen.test(line)));
      scene.expect(bugs.length === 0, `${bugs.length} failures that nobody foresaw, such as ${bugs[0]}`);
    },
  };
}

/** Resolves when the minutes are over and every part is back. */
async function perform(plan: PlannedFault[], minutes: number, begin: Begin): Promise<void> {
  const started = performance.now();
  const until = (second: number) => hold(Math.max(0, second - (performance.now() - started) / 1_000));
  const say = (part: string, what: string) => {
    const second = ((performance.now() - started) / 1_000).toFixed(1);
    console.log(`${second.padStart(7)} s  ${new Date().toISOString().slice(11, 23)}  ${part.padEnd(20)} ${what}`);
  };
  const back = new Map<string, Promise<void>>();
  for (const fault of plan) {
    const { part, what, from, to } = fault;
    await until(from);
    const before = back.get(part);
    const work = async () => {
      // it may take longer to come back than the plan knows
      await before;
      say(part, `${what}, ${(to - from).toFixed(1)} s`);
      const end = await begin(fault);
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
  await until(minutes * 60);
}
