/** Faults that several drills have in common, and what has to hold while they last. */
import { maxmemory } from '../stack/redis.ts';
import { countJobs, queueKey } from './check.ts';
import { hold, type Scene } from './drill.ts';
import { makeBody } from './load.ts';

/** Begins a fault and returns what ends it. */
export type Fault = (scene: Scene) => Promise<() => Promise<unknown>>;

export const yesterday = (): number => Date.now() - 24 * 60 * 60 * 1_000;

/** Postgres is away for that many seconds: records wait in the queue, and no job uses up an attempt. */
export async function withoutPostgres(scene: Scene, fault: Fault, seconds: number): Promise<void> {
  const end = await fault(scene);
  await scene.load.acknowledged(300);
  await hold(seconds);
  await expectNoAttemptUsed(scene);
  await end();
}

/** Redis is away for that many seconds: records go straight to Postgres, and all are acknowledged. */
export async function withoutRedis(scene: Scene, fault: Fault, seconds: number): Promise<void> {
  scene.allowed.failures = false;
  const end = await fault(scene);
  await untilDirect(scene);
  await scene.load.acknowledged(300);
  // nobody touches these counters again: only the owed raises can raise them
  for (const site of scene.sites) await scene.load.send(site, makeBody(yesterday()));
  await hold(seconds);
  scene.expect(goesDirect(scene), 'records still go straight to Postgres');
  await end();
  await scene.healed();
  await untilQueued(scene);
}

/** A drill that is nothing else. */
export const outageOf =
  (without: typeof withoutRedis) =>
  (fault: Fault, seconds: number) =>
  async (scene: Scene): Promise<void> => {
    await scene.begin();
    await without(scene, fault, seconds);
  };

export const killOf =
  (store: 'redis' | 'postgres'): Fault =>
  async (scene) => {
    await scene[store].kill();
    return scene[store].start;
  };

export const freeze =
  (pidsOf: (scene: Scene) => number[]): Fault =>
  async (scene) => {
    const pids = pidsOf(scene);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    return async () => {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    };
  };

type Lock = 'exclusive' | 'access exclusive';

/** Keeps everybody from changing the table, or from reading it too, until the returned function is called. */
export const lockTable = (scene: Scene, table: string, mode: Lock = 'exclusive'): Promise<() => Promise<void>> =>
  new Promise((resolve, reject) => {
    const transaction = scene.sql((sql) =>
      sql.begin(async (locking) => {
        await locking`lock table ${locking(table)} in ${locking.unsafe(mode)} mode`;
        await new Promise<void>((release) => {
          resolve(async () => {
            release();
            await transaction;
          });
        });
      }),
    );
    transaction.catch(reject);
  });

/** Holds back every statement that counts. */
export const lockCounters: Fault = (scene) => lockTable(scene, 'counters');

/** An outage is no attempt: the jobs stay with the worker. */
export async function expectNoAttemptUsed(scene: Scene): Promise<void> {
  const { delayed, failed } = await countJobs(scene);
  scene.expect(delayed + failed === 0, `${delayed + failed} jobs used up an attempt on an outage`);
}

export const listActive = (scene: Scene): Promise<string[]> =>
  scene.redisDo((redis) => redis.lrange(queueKey('active'), 0, -1));

export const untilTaken = (scene: Scene): Promise<void> =>
  scene.until(async () => (await listActive(scene)).length > 0, 'the worker takes jobs');

/** A job may be taken and not yet be with the worker. */
export const untilStoring = (scene: Scene): Promise<void> =>
  scene.until(async () => {
    const waiting = await scene.sql(
      (sql) => sql`
        select from pg_stat_activity where wait_event_type = 'Lock' and query like ${'%json_to_recordset%'}`,
    );
    return waiting.length > 0;
  }, "the worker's statement waits for the lock");

export const countStored = (scene: Scene, ids: string[]): Promise<number> =>
  scene.sql(async (sql) => (await sql`select from records where id in ${sql(ids)}`).length);

/** Some of the newest records went straight to Postgres. */
export const goesDirect = ({ load }: Scene): boolean => load.attempts.slice(-20).some(({ how }) => how === 'persisted');

export const untilDirect = (scene: Scene): Promise<void> =>
  scene.until(() => goesDirect(scene), 'records go straight to Postgres', 2_500);

export const untilQueued = (scene: Scene): Promise<void> =>
  scene.until(() => {
    const last = scene.load.attempts.filter(({ outcome }) => outcome === 'acknowledged').slice(-20);
    return last.length === 20 && last.every(({ how }) => how === 'queued');
  }, 'records go through Redis again');

/** Sets Redis' `maxmemory` to that share of what is in use; below 1 the next write does not fit. */
export const fillRedis = ({ redisDo }: Pick<Scene, 'redisDo'>, share: number): Promise<unknown> =>
  redisDo(async (redis) => {
    const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
    await redis.config('SET', 'maxmemory', String(Math.floor(used * share)));
  });

export const makeRoom = ({ redisDo }: Pick<Scene, 'redisDo'>): Promise<unknown> =>
  redisDo((redis) => redis.config('SET', 'maxmemory', maxmemory));
