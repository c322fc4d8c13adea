/** Our own processes: killed, frozen, replaced. */
import { untilQuiet } from '../check.ts';
import { begin, type Drill, hold, type Scene } from '../drill.ts';
import {
  countActive,
  countHeld,
  firstSite,
  goesThroughQueue,
  isStored,
  kill,
  listActive,
  lockCounters,
  throughProxy,
} from '../faults.ts';
import { makeBody } from '../load.ts';

/** The usual beginning, with an API that waits 400 ms for each answer of Redis. */
async function beginWithSlowRedis(scene: Scene) {
  const proxy = await scene.proxy(scene.stack.redis().port);
  const redisUrl = throughProxy(scene.stack.redis().url, proxy.port);
  const [api, worker] = await Promise.all([scene.api({ REDIS_URL: redisUrl }), scene.worker()]);
  scene.load.begin();
  await scene.load.acknowledged(200);
  proxy.set(200);
  return { api, worker, proxy, redisUrl };
}

export const processDrills: Drill[] = [
  {
    name: 'api-kill',
    about: 'kill -9 of the API while adds are on their way to a Redis that has just gone silent, and another one',
    quick: true,
    run: async (scene) => {
      const proxy = await scene.proxy(scene.stack.redis().port);
      const [api] = await Promise.all([
        scene.api({ REDIS_URL: throughProxy(scene.stack.redis().url, proxy.port) }),
        scene.worker(),
      ]);
      scene.load.begin();
      await scene.load.acknowledged(200);
      await scene.until(() => goesThroughQueue(scene), 'records go through Redis');
      // shorter than the API needs to see it: what it adds now never arrives
      proxy.set('hold');
      await hold(0.3);
      await kill(scene, api);
      await proxy.close();
      await scene.api();
      scene.healed();
      await scene.load.acknowledged(300);
    },
  },
  {
    name: 'worker-kill-before',
    about: 'kill -9 of the worker while its statement has not reached Postgres',
    run: async (scene) => {
      const proxy = await scene.proxy(scene.stack.postgres().port);
      await scene.api();
      const worker = await scene.worker({ DATABASE_URL: throughProxy(scene.stack.postgres().url, proxy.port) });
      scene.load.begin();
      await scene.load.acknowledged(200);
      proxy.set('hold');
      await scene.until(async () => (await countActive(scene)) > 0, 'the worker takes a job');
      await scene.load.acknowledged(100);
      await kill(scene, worker);
      await proxy.close();
      await scene.worker();
      scene.healed();
      await scene.load.acknowledged(100);
    },
  },
  {
    name: 'worker-kill-between',
    about: "kill -9 of the worker between Postgres' commit and the raise in Redis",
    quick: true,
    run: async (scene) => {
      const proxy = await scene.proxy(scene.stack.redis().port);
      const api = await scene.api();
      const worker = await scene.worker({ REDIS_URL: throughProxy(scene.stack.redis().url, proxy.port) });
      // the mark is set: from here on no fill stands in for a raise
      await untilQuiet(scene.stack);
      const lock = await lockCounters(scene);
      const site = firstSite(scene);
      // of yesterday: no later record raises its day, only the job's next delivery can
      const body = makeBody(Date.now() - 24 * 60 * 60 * 1_000);
      await scene.load.send(site, body, api.baseUrl);
      await scene.until(async () => (await countActive(scene)) > 0, 'the worker takes the job');
      // the statement waits for the lock; Redis goes silent; then the statement commits
      proxy.set('hold');
      await lock.release();
      await scene.until(() => isStored(scene, body.id), 'the record is stored');
      await kill(scene, worker);
      await proxy.close();
      await scene.worker();
      scene.healed();
      scene.load.begin();
      await scene.load.acknowledged(300);
    },
  },
  {
    name: 'worker-kill-twice',
    about: 'kill -9 of two workers in a row with the same jobs in hand',
    run: async (scene) => {
      const proxy = await scene.proxy(scene.stack.postgres().port);
      await scene.api();
      scene.load.begin();
      proxy.set('hold');
      for (let crash = 0; crash < 2; crash += 1) {
        const worker = await scene.worker({
          DATABASE_URL: throughProxy(scene.stack.postgres().url, proxy.port),
          // room for the jobs of the first beside those that wait
          WORKER_CONCURRENCY: '1000',
        });
        // the second takes over what the first held once its locks have run out
        await scene.until(async () => (await countHeld(scene)) > crash, `worker ${crash + 1} takes the jobs`, 40_000);
        // more jobs would only take the slots of those that have to come back
        await scene.load.end();
        await kill(scene, worker);
      }
      await proxy.close();
      await scene.worker();
      scene.healed();
      scene.load.begin();
      await scene.load.acknowledged(100);
    },
  },
  {
    name: 'worker-freeze',
    about: 'SIGSTOP of the worker with jobs in hand, beyond its lock on them, while another takes over; then SIGCONT',
    run: async (scene) => {
      const { worker } = await begin(scene);
      const lock = await lockCounters(scene);
      await scene.until(async () => (await countActive(scene)) > 0, 'the worker takes jobs');
      process.kill(worker.process.pid, 'SIGSTOP');
      const held = await listActive(scene);
      // now its statement commits, and it is not there to hear of it
      await lock.release();
      await scene.worker();
      await scene.load.acknowledged(200);
      await hold(22);
      const left = (await listActive(scene)).filter((id) => held.includes(id)).length;
      scene.expect(left === 0, `${left} of the frozen worker's ${held.length} jobs were not taken over`);
      process.kill(worker.process.pid, 'SIGCONT');
      scene.healed();
      await scene.load.acknowledged(300);
    },
  },
  {
    name: 'worker-stop',
    about: 'SIGTERM of the worker with jobs in hand: it finishes them, exit 0',
    run: async (scene) => {
      const { worker } = await begin(scene);
      const lock = await lockCounters(scene);
      await scene.until(async () => (await countActive(scene)) > 0, 'the worker takes jobs');
      const end = worker.process.stop();
      await hold(2);
      await lock.release();
      const { code } = await end;
      scene.expect(code === 0, `the worker ends with ${code}, not 0`);
      const left = await countActive(scene);
      scene.expect(left === 0, `${left} jobs that the worker had in hand were not finished`);
      await scene.worker();
      scene.healed();
      await scene.load.acknowledged(100);
    },
  },
  {
    name: 'rolling-restart',
    about: 'API and workers replaced one after the other, with adds on their way to a slow Redis: no request fails',
    quick: true,
    run: async (scene) => {
      const { api, worker, redisUrl } = await beginWithSlowRedis(scene);
      const before = scene.load.attempts.length;
      let oldApi = api;
      let oldWorker = worker;
      for (let round = 0; round < 2; round += 1) {
        const newApi = await scene.api({ REDIS_URL: redisUrl });
        const newWorker = await scene.worker();
        // as a load balancer does: out of the list, then told to stop with requests still in hand
        scene.targets.splice(scene.targets.indexOf(oldApi), 1);
        const [apiExit, workerExit] = await Promise.all([oldApi.process.stop(), oldWorker.process.stop()]);
        scene.expect(apiExit.code === 0, `the API ends with ${apiExit.code}, not 0`);
        scene.expect(workerExit.code === 0, `the worker ends with ${workerExit.code}, not 0`);
        await scene.load.acknowledged(100);
        oldApi = newApi;
        oldWorker = newWorker;
      }
      scene.healed();
      await scene.load.end();
      const failed = scene.load.attempts.slice(before).filter(({ outcome }) => outcome !== 'acknowledged').length;
      scene.expect(failed === 0, `${failed} requests failed during the rolling restart`);
    },
  },
  {
    name: 'api-stop',
    about: 'SIGTERM of the API while adds are on their way to a slow Redis: what it holds is answered, exit 0',
    run: async (scene) => {
      const { api, proxy } = await beginWithSlowRedis(scene);
      const site = firstSite(scene);
      const held = Array.from({ length: 100 }, () => scene.load.send(site, makeBody(), api.baseUrl));
      // all of them have arrived: their batch takes 400 ms and more, the API reads them within a few
      await hold(0.1);
      scene.targets.splice(scene.targets.indexOf(api), 1);
      const exit = await api.process.stop();
      scene.expect(exit.code === 0, `the API ends with ${exit.code}, not 0`);
      const unanswered = (await Promise.all(held)).filter(({ outcome }) => outcome !== 'acknowledged').length;
      scene.expect(unanswered === 0, `${unanswered} records that the API held were not acknowledged`);
      await proxy.close();
      await scene.api();
      scene.healed();
      await scene.load.acknowledged(100);
    },
  },
];
