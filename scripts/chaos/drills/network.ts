/** The network between our processes and their stores: slow, cut, half open. */
import { readAs } from '../check.ts';
import { type Drill, drill, hold, type Scene } from '../drill.ts';
import { expectNoAttemptUsed, untilDirect, withoutRedis } from '../faults.ts';

/** The usual beginning, with every connection to the stores through a proxy. */
async function begin(scene: Scene) {
  const [redis, postgres] = [await scene.proxy('redis'), await scene.proxy('postgres')];
  const env = { ...redis.env, ...postgres.env };
  return { ...(await scene.begin({ api: env, worker: env })), redis, postgres };
}

export const networkDrills: Drill[] = [
  drill('network-slow', '100 ms in each direction to both stores for 5 s', async (scene) => {
    const { redis, postgres } = await begin(scene);
    for (const proxy of [redis, postgres]) proxy.set(100);
    const before = scene.load.attempts.length;
    await hold(5);
    const failed = scene.load.failedSince(before);
    scene.expect(failed === 0, `${failed} requests failed on a slow network`);
    for (const proxy of [redis, postgres]) proxy.set('pass');
  }),
  drill('network-cut', 'every connection to both stores is cut, eight times in 4 s', async (scene) => {
    const { redis, postgres } = await begin(scene);
    for (let round = 0; round < 8; round += 1) {
      (round % 2 === 0 ? redis : postgres).cut();
      await hold(0.5);
    }
  }),
  drill('network-half-open-redis', 'connections to Redis stay open, nothing passes for 8 s', async (scene) => {
    const { redis } = await begin(scene);
    const halfOpen = async () => {
      redis.set('hold');
      await untilDirect(scene);
      await scene.load.acknowledged(300, 5_000);
      return async () => redis.set('pass');
    };
    await withoutRedis(scene, halfOpen, 8);
  }),
  drill('network-half-open-postgres', 'connections to Postgres stay open, nothing passes for 25 s', async (scene) => {
    const { api, postgres } = await begin(scene);
    // enough reads at once for the API to open all of its connections
    const sites = Array.from({ length: 5 }, () => scene.sites).flat();
    const readAll = () => Promise.all(sites.map((site) => readAs(site, scene, `${api.baseUrl}/v1/consent/org-stats`)));
    const statsAreRead = async () => (await readAll()).every(({ status }) => status === 200);
    await scene.until(statsAreRead, 'statistics are read');
    postgres.set('hold');
    // every connection has a query that is never answered
    for (const end = performance.now() + 25_000; performance.now() < end; ) await Promise.all([readAll(), hold(1)]);
    await expectNoAttemptUsed(scene);
    postgres.set('pass');
    await scene.healed();
    await scene.until(statsAreRead, 'statistics are read again');
    await scene.load.acknowledged(200);
  }),
];
