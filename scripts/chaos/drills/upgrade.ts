/** The release before is replaced by this one, as docs/upgrading.md says, and in the other order too. */
import type { Sql } from '#libs/base/db/database';
import { answersReady } from '../../stack/assent-process.ts';
import type { Drill } from '../drill.ts';
import { makeBody } from '../load.ts';
import { need, type Scene } from '../scene.ts';
import type { AppProcess } from '../stack.ts';

/** `rate`: records a second; `seconds`: how long each state lasts, at that rate. */
export const upgradeAt = (rate: number, seconds: number): Drill => ({
  name: 'upgrade',
  about: `the release before is replaced by this one under up to ${rate} records/s: nothing is lost or refused`,
  upgrade: true,
  alone: true,
  allAcknowledged: true,
  rate,
  run: async (scene) => {
    const before = need(scene.before);
    const { load } = scene;
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
    await scene.stopProcess(early);
    await some();
    await untilStored(scene, 'the worker of the release before stores on the new schema');

    const api = await scene.api();
    await some();
    await untilStored(scene, 'the worker of the release before stores what the new API takes', api);

    // what both APIs take waits for the new worker
    await scene.stopProcess(oldWorker);
    await some();
    await scene.worker();
    await untilStored(scene, 'the new worker stores what waits');

    for (const old of oldApis) {
      if (old !== oldApis.at(-1)) await scene.api();
      await scene.stopProcess(old);
      await some();
    }
    await some();
    const ofOwner = (sql: Sql) => sql<{ n: number }[]>`
      select count(*)::int as n from pg_stat_activity
      where application_name in ('assent-api', 'assent-worker')
        and usename <> replace(application_name, '-', '_') || '_login'`;
    scene.expect((await scene.count(ofOwner)) === 0, 'each new process has a login of its own');
    const sent = (load.attempts.length * 1_000) / (performance.now() - started);
    console.log(`upgrade: ${Math.round(sent)} requests/s were sent`);
  },
});

/** A record that is sent now comes to Postgres. */
async function untilStored(scene: Scene, promise: string, api?: AppProcess): Promise<void> {
  const { body } = await scene.load.send(scene.site, makeBody(), api);
  const isStored = async () =>
    (await scene.count((sql) => sql`select count(*)::int as n from records where id = ${body.id}`)) === 1;
  await scene.until(isStored, promise);
}
