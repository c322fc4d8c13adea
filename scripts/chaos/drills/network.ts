/** The network between our processes and their stores: slow, cut, half open. */
import type { AssentProcess } from '../../stack/assent-process.ts';
import { read } from '../check.ts';
import { type Drill, hold, type Scene } from '../drill.ts';
import { expectNoAttemptUsed, goesDirect, goesThroughQueue, throughProxy } from '../faults.ts';
import type { TcpProxy } from '../proxy.ts';

/** The usual beginning, with both connections of both processes through proxies. */
async function beginThroughProxies(scene: Scene): Promise<{ api: AssentProcess; redis: TcpProxy; postgres: TcpProxy }> {
  const redis = await scene.proxy(scene.stack.redis().port);
  const postgres = await scene.proxy(scene.stack.postgres().port);
  const env = {
    REDIS_URL: throughProxy(scene.stack.redis().url, redis.port),
    DATABASE_URL: throughProxy(scene.stack.postgres().url, postgres.port),
  };
  const [api] = await Promise.all([scene.api(env), scene.worker(env)]);
  scene.load.begin();
  await scene.load.acknowledged(200);
  return { api, redis, postgres };
}

export const networkDrills: Drill[] = [
  {
    name: 'network-slow',
    about: '100 ms in each direction to both stores for 5 s',
    run: async (scene) => {
      const { redis, postgres } = await beginThroughProxies(scene);
      for (const proxy of [redis, postgres]) proxy.set(100);
      const before = scene.load.attempts.length;
      await hold(5);
      const failed = scene.load.attempts.slice(before).filter(({ outcome }) => outcome !== 'acknowledged').length;
      scene.expect(failed === 0, `${failed} requests failed on a slow network`);
      for (const proxy of [redis, postgres]) proxy.set('pass');
      scene.healed();
      await scene.load.acknowledged(200);
    },
  },
  {
    name: 'network-cut',
    about: 'every connection to both stores is cut, eight times in 4 s',
    quick: true,
    run: async (scene) => {
      const { redis, postgres } = await beginThroughProxies(scene);
      for (let round = 0; round < 8; round += 1) {
        (round % 2 === 0 ? redis : postgres).cut();
        await hold(0.5);
      }
      scene.healed();
      await scene.load.acknowledged(200);
    },
  },
  {
    name: 'network-half-open-redis',
    about: 'connections to Redis stay open and nothing passes for 8 s',
    refusesNothing: true,
    run: async (scene) => {
      const { redis } = await beginThroughProxies(scene);
      redis.set('hold');
      await scene.until(() => goesDirect(scene), 'records go straight to Postgres', 2_500);
      await scene.load.acknowledged(300, 5_000);
      await hold(8);
      redis.set('pass');
      scene.healed();
      await scene.until(() => goesThroughQueue(scene), 'records go through Redis again');
    },
  },
  {
    name: 'network-half-open-postgres',
    about: 'connections to Postgres stay open and nothing passes for 25 s',
    run: async (scene) => {
      const { api, postgres } = await beginThroughProxies(scene);
      // so many at once that the API opens all of its connections
      const sites = Array.from({ length: 5 }, () => scene.stack.sites).flat();
      const readAll = () => Promise.all(sites.map((site) => read(scene.stack, api.baseUrl, site, 'org-stats')));
      const logIsRead = async () => (await readAll()).every(({ status }) => status === 200);
      await scene.until(logIsRead, 'the log is read');
      postgres.set('hold');
      // every connection has a question that is never answered
      for (const end = performance.now() + 25_000; performance.now() < end; ) await Promise.all([readAll(), hold(1)]);
      await expectNoAttemptUsed(scene);
      postgres.set('pass');
      scene.healed();
      await scene.until(logIsRead, 'the log is read again');
      await scene.load.acknowledged(200);
    },
  },
];
