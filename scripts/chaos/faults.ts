/** What the drills do to the parts, and how they see that it took effect. */
import { readStats } from './check.ts';
import type { Scene } from './drill.ts';
import type { ChaosStack } from './stack.ts';

export const kill = async (scene: Scene, target: Awaited<ReturnType<Scene['api']>>) => {
  target.process.kill();
  await target.process.exited;
  const at = scene.targets.indexOf(target);
  if (at !== -1) scene.targets.splice(at, 1);
};

export const throughProxy = (url: string, port: number): string => {
  const address = new URL(url);
  address.port = String(port);
  return address.toString();
};

export const firstSite = (scene: Scene): ChaosStack['sites'][number] => {
  const [site] = scene.stack.sites;
  if (!site) throw new Error('no site');
  return site;
};

/** Jobs wait in the worker's hands: an outage is nobody's attempt. */
export async function expectNoAttemptUsed(scene: Scene): Promise<void> {
  const used = await scene.stack.redisDo(async (redis) => {
    const [delayed, failed] = await Promise.all([
      redis.zcard('assent:{record-0}:delayed'),
      redis.zcard('assent:{record-0}:failed'),
    ]);
    return delayed + failed;
  });
  scene.expect(used === 0, `${used} jobs used up an attempt on an outage`);
}

/** The jobs in the hands of workers. */
export const listActive = (scene: Scene): Promise<string[]> =>
  scene.stack.redisDo((redis) => redis.lrange('assent:{record-0}:active', 0, -1));

export const countActive = async (scene: Scene): Promise<number> => (await listActive(scene)).length;

export const isStored = async (scene: Scene, id: string): Promise<boolean> => {
  const rows = await scene.stack.sql((sql) => sql`select from records where id = ${id}`);
  return rows.length > 0;
};

/** How many times jobs were taken up so far, by the attempts noted on the jobs themselves. */
export const countHeld = (scene: Scene): Promise<number> =>
  scene.stack.redisDo(async (redis) => {
    const ids = await redis.lrange('assent:{record-0}:active', 0, -1);
    const started = await Promise.all(ids.map((id) => redis.hget(`assent:{record-0}:${id}`, 'ats')));
    return Math.max(0, ...started.map(Number));
  });

/** Holds back every statement that counts, until released. */
export async function lockCounters(scene: Scene): Promise<{ release(): Promise<void> }> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let locked = () => {};
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve;
  });
  const holding = scene.stack.sql((sql) =>
    sql.begin(async (transaction) => {
      await transaction`lock table counters in exclusive mode`;
      locked();
      await released;
    }),
  );
  await isLocked;
  return {
    release: async () => {
      release();
      await holding;
    },
  };
}

/** The newest acknowledged records went straight to Postgres. */
export const goesDirect = (scene: Scene): boolean =>
  scene.load.attempts.slice(-20).some(({ how }) => how === 'persisted');

export const goesThroughQueue = (scene: Scene): boolean => {
  const last = scene.load.attempts.filter(({ outcome }) => outcome === 'acknowledged').slice(-20);
  return last.length === 20 && last.every(({ how }) => how === 'queued');
};

export const statsAreRight = async (scene: Scene, baseUrl: string, source?: string): Promise<boolean> => {
  const all = await Promise.all(scene.stack.sites.map((site) => readStats(scene.stack, baseUrl, site)));
  return all.every((stats) => stats.total === stats.truth && (source === undefined || stats.source === source));
};
