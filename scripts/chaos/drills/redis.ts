/** Redis: killed, frozen, full, emptied, set back in time, or not there at all. */
import { readdirSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import type { AssentProcess } from '../../stack/assent-process.ts';
import { statsAreRight, untilQuiet } from '../check.ts';
import { type Drill, drill, hold, quick, type Scene } from '../drill.ts';
import {
  type Fault,
  fillRedis,
  freeze,
  goesDirect,
  killOf,
  makeRoom,
  outageOf,
  untilDirect,
  untilQueued,
  withoutRedis,
} from '../faults.ts';
import { fillDiskOf } from '../small-disk.ts';

const outage = outageOf(withoutRedis);
const kill = killOf('redis');
const freezeRedis = freeze((scene) => [scene.redis.running().pid]);

const becomeReplica: Fault = async (scene) => {
  await scene.redisDo((redis) => redis.replicaof('127.0.0.1', 1));
  return () => scene.redisDo((redis) => redis.replicaof('NO', 'ONE'));
};

const fillAndLeaveLittleRoom: Fault = async (scene) => {
  await fillRedis(scene, 0.95);
  await untilDirect(scene);
  await scene.load.acknowledged(300);
  // adds would fit again, but a worker that starts now might not
  await fillRedis(scene, 1.1);
  return () => makeRoom(scene);
};

const fillDisk: Fault = async (scene) => {
  const end = await fillDiskOf(scene.redis, () => scene.redisDo((redis) => redis.ping()));
  await untilDirect(scene);
  return end;
};

const killUnderLoad = async (scene: Scene) => {
  await scene.begin();
  for (let round = 0; round < 3; round += 1) {
    const end = await kill(scene);
    await hold(0.3);
    await end();
    await untilQueued(scene);
  }
};

const appendOnlyFile = (scene: Scene): string => {
  const folder = path.join(scene.folder, 'redis/appendonlydir');
  const name = readdirSync(folder).find((file) => file.endsWith('.incr.aof'));
  if (!name) throw new Error('Redis has no append-only file');
  return path.join(folder, name);
};

/** Redis has lost counters, and no load hides it. */
const statsRecover = async (scene: Scene, api: AssentProcess) => {
  await scene.healed();
  scene.expect(await statsAreRight(scene, api.baseUrl), 'statistics are right at once');
  const isBack = () => statsAreRight(scene, api.baseUrl, 'redis');
  await scene.until(isBack, 'statistics come from Redis again', 10_000);
  scene.load.begin();
  await scene.load.acknowledged(200);
};

export const redisDrills: Drill[] = [
  quick('redis-kill', 'kill -9 of Redis, three times, with restart', async (scene) => {
    scene.allowed.failures = false;
    await killUnderLoad(scene);
  }),
  {
    ...drill('redis-kill-everysec', 'the same with appendfsync everysec, which may lose some', async (scene) => {
      // a write to the file waits up to two seconds for one to disk, three times, at 250 records a second
      scene.allowed.lost = 1_500;
      await killUnderLoad(scene);
    }),
    redisSettings: { appendfsync: 'everysec' },
  },
  drill('redis-older-file', 'Redis restarts from an append-only file of an earlier moment', async (scene) => {
    const { api } = await scene.begin();
    await scene.load.acknowledged(200);
    const size = statSync(appendOnlyFile(scene)).size;
    await scene.load.acknowledged(200);
    await scene.load.end();
    await untilQuiet(scene);
    const end = await kill(scene);
    truncateSync(appendOnlyFile(scene), size);
    await end();
    await statsRecover(scene, api);
  }),
  drill('redis-freeze', 'SIGSTOP of Redis for 6 s', outage(freezeRedis, 6)),
  drill('redis-down-at-start', 'Redis is down when the API starts; its first connections are cut', async (scene) => {
    const end = await kill(scene);
    const proxy = await scene.proxy('redis');
    await scene.api(proxy.env);
    scene.load.begin();
    await scene.load.acknowledged(200);
    scene.expect(goesDirect(scene), 'records go straight to Postgres');
    proxy.set('refuse');
    await end();
    // an answer takes 100 ms: some connections end between being ready and the answer to their first command
    proxy.set(50);
    for (let seconds = 0.3; seconds < 0.8; seconds += 0.05) {
      await hold(seconds);
      proxy.cut();
    }
    proxy.set('pass');
    await scene.healed();
    await scene.worker();
    await untilQueued(scene);
  }),
  drill('redis-down-long', 'Redis down for 35 s', outage(kill, 35)),
  drill('redis-flush', 'FLUSHALL with an empty queue', async (scene) => {
    const { api } = await scene.begin();
    await scene.load.end();
    await untilQuiet(scene);
    await scene.redisDo((redis) => redis.flushall());
    await statsRecover(scene, api);
    const schedules = () => scene.redisDo((redis) => redis.exists('assent:{maintenance}:repeat'));
    await scene.until(async () => (await schedules()) === 1, 'the schedules are written again', 70_000);
  }),
  drill('redis-full', 'Redis at its maxmemory, and a little below it', outage(fillAndLeaveLittleRoom, 0)),
  {
    ...drill('redis-disk-full', 'the disk of Redis is full for 5 s (a tmpfs; needs root)', outage(fillDisk, 5)),
    smallDisk: { of: 'redis', size: '32m' },
  },
  drill('worker-starts-on-full-redis', 'a worker starts while Redis is full and jobs wait', async (scene) => {
    await scene.api();
    scene.load.begin();
    await scene.load.acknowledged(300);
    await fillRedis(scene, 0.95);
    const worker = await scene.worker();
    await scene.load.acknowledged(300);
    await hold(5);
    scene.expect(worker.process.running(), 'the worker goes on');
    await makeRoom(scene);
  }),
  drill('redis-read-only', 'Redis becomes a read-only replica, and a master again', outage(becomeReplica, 0)),
  drill('both-away', 'Redis and Postgres both down for 3 s: nothing is acknowledged', async (scene) => {
    const { postgres, redis } = scene;
    await scene.begin();
    await Promise.all([redis.kill(), postgres.kill()]);
    const before = scene.load.attempts.length;
    await hold(3);
    const during = scene.load.attempts.slice(before + 50).filter(({ outcome }) => outcome === 'acknowledged');
    scene.expect(during.length === 0, `${during.length} records were acknowledged with both stores down`);
    await Promise.all([postgres.start(), redis.start()]);
    await scene.healed();
    await untilQueued(scene);
  }),
];
