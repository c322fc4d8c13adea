/** A Redis that loses what it had: an older file, and then nothing at all. */
import { readdirSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { statsAreRight, untilQuiet } from '../check.ts';
import type { Drill } from '../drill.ts';
import { kill } from '../faults.ts';
import type { Scene } from '../scene.ts';

const appendOnlyFile = ({ redis }: Scene): string => {
  const folder = path.join(redis.running().dataDir, 'appendonlydir');
  const name = readdirSync(folder).find((file) => file.endsWith('.incr.aof'));
  if (!name) throw new Error('Redis has no append-only file');
  return path.join(folder, name);
};

/** Redis loses counters, and no load hides it. */
async function loseCounters(scene: Scene, lose: () => Promise<unknown>): Promise<void> {
  await scene.load.end();
  await untilQuiet(scene);
  await lose();
  scene.expect(await statsAreRight(scene), 'statistics are right at once');
  await scene.until(() => statsAreRight(scene, 'redis'), 'statistics come from Redis again', 10_000);
  scene.load.begin();
  await scene.load.acknowledged(200);
}

async function setRedisBack(scene: Scene): Promise<void> {
  await scene.begin();
  const { size } = statSync(appendOnlyFile(scene));
  await scene.load.acknowledged(200);
  await loseCounters(scene, async () => {
    const end = await kill(scene.redis);
    truncateSync(appendOnlyFile(scene), size);
    await end();
  });
  await loseCounters(scene, () => scene.redisDo((redis) => redis.flushall()));
}

export const setBackDrills: Drill[] = [
  {
    name: 'redis-set-back',
    about: 'Redis restarts from an append-only file of an earlier moment; then FLUSHALL',
    run: setRedisBack,
  },
];
