/** The APIs and workers of a random run, started again and again as by a supervisor. */
import type { AssentProcess } from '../../stack/assent-process.ts';
import { hold, type Scene } from '../drill.ts';
import type { ProcessFault, ProcessName } from './plan.ts';

type Env = Record<string, string>;

/** Time in milliseconds of `performance.now()`; still frozen without an end. */
interface Frozen {
  from: number;
  to?: number;
}

export type Supervised = Awaited<ReturnType<typeof supervise>>;

export async function supervise(scene: Scene, name: ProcessName, env: Env) {
  const app = name.startsWith('api') ? 'api' : 'worker';
  const frozen: Frozen[] = [];
  let running: AssentProcess | undefined;
  let baseUrl = '';

  /** Stores may be away just now. */
  const start = async (): Promise<void> => {
    for (let attempt = 1; !running; attempt += 1) {
      try {
        running = await scene.start(app, env);
      } catch (error) {
        if (attempt === 10) throw error;
        await hold(0.5);
      }
    }
    const started = running;
    baseUrl = started.baseUrl;
    void started.process.exited.then(({ code, signal }) => {
      scene.expect(running !== started, `${name} ended by itself: ${code ?? signal}`);
    });
  };

  const end = async (how: (process: AssentProcess['process']) => Promise<unknown>): Promise<void> => {
    const ending = running?.process;
    running = undefined;
    if (ending) await how(ending);
  };

  const begin = async ({ what }: ProcessFault): Promise<() => Promise<void>> => {
    if (what === 'freeze') return freeze();
    await end((ending) => {
      if (what === 'restart') return ending.stop();
      ending.kill();
      return ending.exited;
    });
    return start;
  };

  const freeze = async (): Promise<() => Promise<void>> => {
    const target = running?.process;
    const period: Frozen = { from: performance.now() };
    frozen.push(period);
    if (target) process.kill(target.pid, 'SIGSTOP');
    return async () => {
      if (target?.running()) process.kill(target.pid, 'SIGCONT');
      period.to = performance.now();
    };
  };

  await start();
  return {
    name,
    begin,
    /** the last known: a client finds out by itself that nobody is there */
    baseUrl: () => baseUrl,
    /** Milliseconds of the time since `from` in which it could not do anything. */
    frozenSince: (from: number): number => {
      const now = performance.now();
      return frozen.reduce((sum, each) => sum + Math.max(0, (each.to ?? now) - Math.max(from, each.from)), 0);
    },
  };
}
