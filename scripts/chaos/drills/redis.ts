/** Redis: killed, frozen, full, emptied, set back in time, or not there at all. */
import { readdirSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { untilQuiet } from '../check.ts';
import { begin, type Drill, hold, type Scene } from '../drill.ts';
import { goesDirect, goesThroughQueue, statsAreRight, throughProxy } from '../faults.ts';
import { makeBody } from '../load.ts';

const day = 24 * 60 * 60 * 1_000;

const restart = async (scene: Scene, { down }: { down: number }) => {
  scene.stack.redis().kill();
  await scene.stack.redis().exited;
  await hold(down);
  await scene.stack.startRedis();
};

const appendOnlyFile = (scene: Scene): string => {
  const folder = path.join(scene.stack.folder, 'redis/appendonlydir');
  const name = readdirSync(folder).find((file) => file.endsWith('.incr.aof'));
  if (!name) throw new Error('Redis has no append-only file');
  return path.join(folder, name);
};

const killUnderLoad = async (scene: Scene) => {
  await begin(scene);
  for (let round = 0; round < 3; round += 1) {
    await restart(scene, { down: 0.3 });
    await scene.until(() => goesThroughQueue(scene), 'records go through Redis again');
  }
  scene.healed();
  await scene.load.acknowledged(200);
};

export const redisDrills: Drill[] = [
  {
    name: 'redis-kill',
    about: 'kill -9 of Redis, three times, with restart',
    quick: true,
    refusesNothing: true,
    run: killUnderLoad,
  },
  {
    name: 'redis-kill-everysec',
    about: 'the same with appendfsync everysec, which is not the shipped setting: what is lost is reported',
    redisSettings: { appendfsync: 'everysec' },
    mayLose: true,
    run: killUnderLoad,
  },
  {
    name: 'redis-older-file',
    about: 'Redis restarted from an append-only file cut at an earlier moment',
    quick: true,
    run: async (scene) => {
      const { api } = await begin(scene);
      await scene.load.acknowledged(200);
      const size = statSync(appendOnlyFile(scene)).size;
      await scene.load.acknowledged(200);
      await scene.load.end();
      await untilQuiet(scene.stack);
      scene.stack.redis().kill();
      await scene.stack.redis().exited;
      truncateSync(appendOnlyFile(scene), size);
      await scene.stack.startRedis();
      scene.healed();
      scene.expect(await statsAreRight(scene, api.baseUrl), 'stats are right at once');
      await scene.until(() => statsAreRight(scene, api.baseUrl, 'redis'), 'stats come from Redis again', 10_000);
      scene.load.begin();
      await scene.load.acknowledged(100);
    },
  },
  {
    name: 'redis-freeze',
    about: 'SIGSTOP of Redis for 6 s',
    quick: true,
    refusesNothing: true,
    run: async (scene) => {
      await begin(scene);
      process.kill(scene.stack.redis().pid, 'SIGSTOP');
      await scene.until(() => goesDirect(scene), 'records go straight to Postgres', 3_000);
      // nobody will touch these counters again: only what is owed can raise them
      for (const site of scene.stack.sites) await scene.load.send(site, makeBody(Date.now() - day));
      await hold(6);
      process.kill(scene.stack.redis().pid, 'SIGCONT');
      scene.healed();
      await scene.until(() => goesThroughQueue(scene), 'records go through Redis again');
    },
  },
  {
    name: 'redis-down-at-start',
    about: 'Redis is down when the API starts, and its first connections are cut',
    run: async (scene) => {
      scene.stack.redis().kill();
      await scene.stack.redis().exited;
      const proxy = await scene.proxy(scene.stack.redis().port);
      await scene.api({ REDIS_URL: throughProxy(scene.stack.redis().url, proxy.port) });
      scene.load.begin();
      await scene.load.acknowledged(200);
      scene.expect(goesDirect(scene), 'records go straight to Postgres');
      proxy.set('refuse');
      await scene.stack.startRedis();
      // an answer takes 100 ms: some connections end between being ready and the answer to their first command
      proxy.set(50);
      for (let seconds = 0.3; seconds < 0.8; seconds += 0.05) {
        await hold(seconds);
        proxy.cut();
      }
      proxy.set('pass');
      scene.healed();
      await scene.worker();
      await scene.until(() => goesThroughQueue(scene), 'records go through Redis');
    },
  },
  {
    name: 'redis-down-long',
    about: 'Redis down for 35 s',
    refusesNothing: true,
    run: async (scene) => {
      await begin(scene);
      await restart(scene, { down: 35 });
      scene.healed();
      await scene.until(() => goesThroughQueue(scene), 'records go through Redis again');
    },
  },
  {
    name: 'redis-flush',
    about: 'FLUSHALL with an empty queue',
    run: async (scene) => {
      const { api } = await begin(scene);
      await scene.load.end();
      await untilQuiet(scene.stack);
      await scene.stack.redisDo((redis) => redis.flushall());
      scene.healed();
      scene.expect(await statsAreRight(scene, api.baseUrl), 'stats are right at once');
      await scene.until(() => statsAreRight(scene, api.baseUrl, 'redis'), 'stats come from Redis again', 10_000);
      scene.load.begin();
      await scene.load.acknowledged(200);
      await scene.until(
        () => scene.stack.redisDo(async (redis) => (await redis.exists('assent:{maintenance}:repeat')) === 1),
        'the schedules are written again',
        70_000,
      );
    },
  },
  {
    name: 'redis-full',
    about: 'Redis at its maxmemory, and a little below it',
    quick: true,
    refusesNothing: true,
    run: async (scene) => {
      await begin(scene);
      await fill(scene);
      await scene.until(() => goesDirect(scene), 'records go straight to Postgres', 3_000);
      await scene.load.acknowledged(300);
      // adds would fit again, but a worker that starts now might not
      await fill(scene, 1.1);
      await scene.load.acknowledged(100);
      scene.expect(goesDirect(scene), 'records go straight to Postgres while Redis is nearly full');
      await empty(scene);
      scene.healed();
      await scene.until(() => goesThroughQueue(scene), 'records go through Redis again');
    },
  },
  {
    name: 'worker-starts-on-full-redis',
    about: 'a worker that starts while Redis is full, with jobs waiting',
    run: async (scene) => {
      await scene.api();
      scene.load.begin();
      await scene.load.acknowledged(300);
      await fill(scene);
      const worker = await scene.worker();
      await scene.load.acknowledged(300);
      await hold(5);
      scene.expect(worker.process.running(), 'the worker goes on');
      await empty(scene);
      scene.healed();
      await scene.load.acknowledged(200);
    },
  },
  {
    name: 'redis-read-only',
    about: 'Redis becomes a read-only replica, and a master again',
    refusesNothing: true,
    run: async (scene) => {
      await begin(scene);
      await scene.stack.redisDo((redis) => redis.replicaof('127.0.0.1', 1));
      await scene.until(() => goesDirect(scene), 'records go straight to Postgres', 3_000);
      await scene.load.acknowledged(300);
      await scene.stack.redisDo((redis) => redis.replicaof('NO', 'ONE'));
      scene.healed();
      await scene.until(() => goesThroughQueue(scene), 'records go through Redis again');
    },
  },
  {
    name: 'both-away',
    about: 'Redis and Postgres both down for 3 s: nothing is acknowledged',
    run: async (scene) => {
      await begin(scene);
      scene.stack.redis().kill();
      scene.stack.postgres().kill();
      await Promise.all([scene.stack.redis().exited, scene.stack.postgres().exited]);
      const before = scene.load.attempts.length;
      await hold(3);
      const during = scene.load.attempts.slice(before + 50).filter(({ outcome }) => outcome === 'acknowledged');
      scene.expect(during.length === 0, `${during.length} records were acknowledged with both stores down`);
      await Promise.all([scene.stack.startPostgres(), scene.stack.startRedis()]);
      scene.healed();
      await scene.until(() => goesThroughQueue(scene), 'records go through Redis again');
    },
  },
];

/** Sets the limit to that share of what is in use; below 1 the next write does not fit. */
const fill = (scene: Scene, share = 0.95): Promise<unknown> =>
  scene.stack.redisDo(async (redis) => {
    const used = /used_memory:(\d+)/.exec(await redis.info('memory'))?.[1] ?? '0';
    await redis.config('SET', 'maxmemory', String(Math.floor(Number(used) * share)));
  });

const empty = (scene: Scene): Promise<unknown> => scene.stack.redisDo((redis) => redis.config('SET', 'maxmemory', '0'));
