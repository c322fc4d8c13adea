/** Our own processes: killed, frozen, replaced. */
import { queueKey, untilQuiet } from '../check.ts';
import { type Drill, drill, hold, quick, type Scene } from '../drill.ts';
import { countStored, listActive, lockCounters, untilQueued, untilStoring, untilTaken, yesterday } from '../faults.ts';
import { makeBody } from '../load.ts';

/** The usual beginning, with an API that waits 400 ms for each answer of Redis. */
async function beginWithSlowRedis(scene: Scene) {
  const proxy = await scene.proxy('redis');
  const begun = await scene.begin({ api: proxy.env });
  proxy.set(200);
  return { ...begun, proxy };
}

/** How many times a job that a worker holds was taken, by the count on the job. */
const countTaken = (scene: Scene): Promise<number> =>
  scene.redisDo(async (redis) => {
    const ids = await redis.lrange(queueKey('active'), 0, -1);
    const counts = await Promise.all(ids.map((id) => redis.hget(queueKey(id), 'ats')));
    return Math.max(0, ...counts.map(Number));
  });

export const processDrills: Drill[] = [
  quick('api-kill', 'kill -9 of the API while adds are on their way to a Redis that has gone silent', async (scene) => {
    const proxy = await scene.proxy('redis');
    const { api } = await scene.begin({ api: proxy.env });
    await untilQueued(scene);
    // shorter than the API needs to notice: what it adds now never arrives
    proxy.set('hold');
    await hold(0.3);
    await scene.kill(api);
    await scene.api();
  }),
  drill('worker-kill-before', 'kill -9 of the worker before its statement reached Postgres', async (scene) => {
    const proxy = await scene.proxy('postgres');
    const { worker } = await scene.begin({ worker: proxy.env });
    proxy.set('hold');
    await untilTaken(scene);
    await scene.load.acknowledged(100);
    await scene.kill(worker);
    await scene.worker();
  }),
  quick('worker-kill-between', 'kill -9 of the worker between commit and raise', async (scene) => {
    const proxy = await scene.proxy('redis');
    const api = await scene.api();
    const worker = await scene.worker(proxy.env);
    // the ready mark is set: from here on no fill stands in for a raise
    await untilQuiet(scene);
    const unlock = await lockCounters(scene);
    // no later record raises yesterday's counter: only the job's next delivery can
    const body = makeBody(yesterday());
    await scene.load.send(scene.site, body, api.baseUrl);
    await untilStoring(scene);
    // Redis goes silent; then the statement commits
    proxy.set('hold');
    await unlock();
    await scene.until(async () => (await countStored(scene, [body.id])) === 1, 'the record is stored');
    await scene.kill(worker);
    await scene.worker();
    scene.load.begin();
  }),
  drill('worker-kill-twice', 'kill -9 of two workers in a row while they hold the same jobs', async (scene) => {
    const proxy = await scene.proxy('postgres');
    await scene.api();
    scene.load.begin();
    proxy.set('hold');
    for (let crash = 0; crash < 2; crash += 1) {
      // room for the jobs of the first worker beside those that wait
      const worker = await scene.worker({ ...proxy.env, WORKER_CONCURRENCY: '1000' });
      // the second takes over what the first held once its locks have expired
      await scene.until(async () => (await countTaken(scene)) > crash, `worker ${crash + 1} takes the jobs`, 40_000);
      // more jobs would only take the slots of those that have to come back
      await scene.load.end();
      await scene.kill(worker);
    }
    await scene.worker();
    scene.load.begin();
  }),
  drill('worker-freeze', 'SIGSTOP of the worker beyond its locks, another takes over; then SIGCONT', async (scene) => {
    const { worker } = await scene.begin();
    const unlock = await lockCounters(scene);
    await untilTaken(scene);
    process.kill(worker.process.pid, 'SIGSTOP');
    const held = await listActive(scene);
    // its statement commits now, and it cannot hear of it
    await unlock();
    await scene.worker();
    await scene.load.acknowledged(200);
    await hold(22);
    const left = (await listActive(scene)).filter((id) => held.includes(id)).length;
    scene.expect(left === 0, `${left} of the frozen worker's ${held.length} jobs were not taken over`);
    process.kill(worker.process.pid, 'SIGCONT');
  }),
  drill('worker-stop', 'SIGTERM of the worker while it holds jobs: it finishes them, exit 0', async (scene) => {
    const { worker } = await scene.begin();
    const unlock = await lockCounters(scene);
    await untilTaken(scene);
    const end = worker.process.stop();
    await hold(2);
    await unlock();
    const { code } = await end;
    scene.expect(code === 0, `the worker ends with ${code}, not 0`);
    const left = (await listActive(scene)).length;
    scene.expect(left === 0, `${left} jobs that the worker held were not finished`);
    await scene.worker();
  }),
  drill('rolling-restart', 'API and workers replaced one by one with a slow Redis: no request fails', async (scene) => {
    let { api, worker, proxy } = await beginWithSlowRedis(scene);
    const before = scene.load.attempts.length;
    for (let round = 0; round < 2; round += 1) {
      const [newApi, newWorker] = [await scene.api(proxy.env), await scene.worker()];
      // as a load balancer does: off the list, then told to stop while requests are in flight
      scene.takeOff(api);
      const [apiExit, workerExit] = await Promise.all([api.process.stop(), worker.process.stop()]);
      scene.expect(apiExit.code === 0, `the API ends with ${apiExit.code}, not 0`);
      scene.expect(workerExit.code === 0, `the worker ends with ${workerExit.code}, not 0`);
      await scene.load.acknowledged(100);
      [api, worker] = [newApi, newWorker];
    }
    await scene.healed();
    await scene.load.end();
    const failed = scene.load.failedSince(before);
    scene.expect(failed === 0, `${failed} requests failed during the rolling restart`);
  }),
  drill('api-stop', 'SIGTERM of the API with a slow Redis: requests in flight are answered', async (scene) => {
    const { api } = await beginWithSlowRedis(scene);
    const { site } = scene;
    const inFlight = Array.from({ length: 100 }, () => scene.load.send(site, makeBody(), api.baseUrl));
    // the API has read all of them, and their batch takes 400 ms or more
    await hold(0.1);
    scene.takeOff(api);
    const exit = await api.process.stop();
    scene.expect(exit.code === 0, `the API ends with ${exit.code}, not 0`);
    const unanswered = (await Promise.all(inFlight)).filter(({ outcome }) => outcome !== 'acknowledged').length;
    scene.expect(unanswered === 0, `${unanswered} records that the API held were not acknowledged`);
    await scene.api();
  }),
];
