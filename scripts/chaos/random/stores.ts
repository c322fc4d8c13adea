/** Postgres and Redis of a random run, and the network between them and our processes. */
import { hold, type Scene } from '../drill.ts';
import { fillRedis, makeRoom } from '../faults.ts';
import { serverPids } from '../postgres-server.ts';
import { fillDiskOf } from '../small-disk.ts';
import type { LinkFault, StoreFault, StoreName } from './plan.ts';

type End = () => Promise<unknown> | unknown;

/** milliseconds in each direction */
const delay = 150;
/** seconds between two cuts */
const cutEvery = 0.5;

/** `hasSmallDisk`: otherwise the full disk of Postgres is what it leads to, its end. */
export async function breakStore(
  scene: Scene,
  { part, what }: Pick<StoreFault, 'part' | 'what'>,
  hasSmallDisk: boolean,
): Promise<End> {
  if (what === 'freeze') return freeze(pidsOf(scene, part));
  if (what === 'fill') {
    if (part === 'postgres') {
      if (!hasSmallDisk) return breakStore(scene, { part, what: 'kill' }, false);
      return fillDiskOf(scene.postgres, () => scene.sql((sql) => sql`select 1`));
    }
    await fillRedis(scene, 0.95);
    return () => makeRoom(scene);
  }
  const server = scene[part];
  if (what === 'restart') await server.running().stop();
  else {
    freeze(pidsOf(scene, part), 'SIGKILL');
    await server.running().exited;
  }
  return () => startAgain(server.start);
}

const pidsOf = (scene: Scene, part: StoreName): number[] =>
  part === 'postgres' ? serverPids(scene) : [scene.redis.running().pid];

function freeze(pids: number[], signal: 'SIGSTOP' | 'SIGKILL' = 'SIGSTOP'): End {
  const send = (what: NodeJS.Signals) => {
    for (const pid of pids) {
      try {
        process.kill(pid, what);
      } catch {
        // a backend has ended meanwhile
      }
    }
  };
  send(signal);
  return () => send('SIGCONT');
}

/** What a killed Postgres shared may take a moment to be gone. */
async function startAgain(start: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (error) {
      if (attempt === 10) throw error;
      await hold(0.5);
    }
  }
}

type Proxy = Awaited<ReturnType<Scene['proxy']>>;

export function breakLink(proxy: Proxy, { what }: LinkFault): End {
  if (what === 'cut') {
    proxy.cut();
    const cutting = setInterval(proxy.cut, cutEvery * 1_000);
    return () => clearInterval(cutting);
  }
  proxy.set(what === 'silence' ? 'hold' : delay);
  return () => proxy.set('pass');
}
