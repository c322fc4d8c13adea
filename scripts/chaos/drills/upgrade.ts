/** The release before is replaced by this one, as docs/upgrading.md says, and in the other order too. */
import { type AssentProcess, answersReady } from '../../stack/assent-process.ts';
import type { Drill, Scene } from '../drill.ts';
import { countStored } from '../faults.ts';
import { makeBody } from '../load.ts';

/** `rate`: records a second; `seconds`: how long each state lasts, at that rate. */
export const upgradeAt = (rate: number, seconds: number): Drill => ({
  name: 'upgrade',
  about: `the release before is replaced by this one under up to ${rate} records/s: nothing is lost or refused`,
  upgrade: true,
  alone: true,
  rate,
  run: async (scene) => {
    const { before, load } = scene;
    if (!before) throw new Error('there is no release before');
    scene.allowed.failures = false;
    const some = () => load.acknowledged(rate * seconds);
    // `early` gets no load: a load balancer asks whether it is ready
    const [oldWorker, early, ...oldApis] = await Promise.all([
      scene.worker({}, before),
      scene.start('api'),
      scene.api({}, before),
      scene.api({}, before),
    ]);
    const started = performance.now();
    await scene.until(async () => !(await answersReady(early.opsUrl)), 'the new API is not ready on the old schema');
    load.begin();
    await some();

    await scene.assent('migrate');
    await scene.until(() => answersReady(early.opsUrl), 'the new API is ready once the database is migrated');
    await early.process.stop();
    await some();
    await untilStored(scene, 'the worker of the release before stores on the new schema');

    const api = await scene.api();
    await some();
    await untilStored(scene, 'the worker of the release before stores what the new API takes', api);

    // what both APIs take waits for the new worker
    await stop(scene, oldWorker);
    await some();
    await scene.worker();
    await untilStored(scene, 'the new worker stores what waits');

    for (const old of oldApis) {
      if (old !== oldApis.at(-1)) await scene.api();
      await stop(scene, old);
      await some();
    }
    await some();
    const sent = (load.attempts.length * 1_000) / (performance.now() - started);
    console.log(`upgrade: ${Math.round(sent)} requests/s were sent`);
  },
  afterwards: async (scene) => {
    // each throws where something differs
    await scene.assent('log', 'check');
    await scene.assent('counters', 'check');
  },
});

async function stop(scene: Scene, old: AssentProcess): Promise<void> {
  scene.takeOff(old);
  const { code } = await old.process.stop();
  scene.expect(code === 0, `a process of the release before ends with ${code}, not 0`);
}

/** A record that is sent now comes to Postgres. */
async function untilStored(scene: Scene, promise: string, api?: AssentProcess): Promise<void> {
  const { body } = await scene.load.send(scene.site, makeBody(), api?.baseUrl);
  await scene.until(async () => (await countStored(scene, [body.id])) === 1, promise);
}
