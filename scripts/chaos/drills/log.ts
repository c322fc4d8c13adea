/** The sealed log: its sealer killed at every step, two of them, epochs that cannot be closed, a Postgres set back in time. */
import { countUnsealed } from '../check-log.ts';
import { type Drill, drill, hold, type Scene } from '../drill.ts';
import { lockTable } from '../faults.ts';
import { haltedLogs, sealed, setBack } from '../set-back.ts';

/** What sealing changes, in this order: held back there, it has closed an epoch, is between runs, folds, or has signed. */
const steps = ['derivations', 'log_runs', 'log_nodes', 'logs', 'log_keys'] as const;

const waitsFor = async (scene: Scene, table: string): Promise<boolean> => {
  const rows = await scene.sql(
    (sql) => sql`
      select from pg_locks join pg_stat_activity using (pid)
      where not granted and relation = ${table}::regclass and application_name = 'assent-worker'`,
  );
  return rows.length > 0;
};

const untilSealedOn = async (scene: Scene): Promise<void> => {
  const before = await sealed(scene);
  await scene.until(async () => (await sealed(scene)) > before, 'records are sealed');
};

export const logDrills: Drill[] = [
  drill('sealer-kill', 'kill -9 of the worker at every step of sealing', async (scene) => {
    let { worker } = await scene.begin();
    await untilSealedOn(scene);
    for (const step of steps) {
      const release = await lockTable(scene, step);
      await scene.until(() => waitsFor(scene, step), `sealing comes to ${step}`);
      await scene.kill(worker);
      await release();
      worker = await scene.worker();
      await untilSealedOn(scene);
    }
  }),
  drill('sealers-two', 'two workers seal, one is killed and replaced again and again', async (scene) => {
    await scene.begin();
    for (let round = 0; round < 5; round += 1) {
      const second = await scene.worker();
      await untilSealedOn(scene);
      await scene.kill(second);
    }
  }),
  drill(
    'epoch-held',
    'a transaction of ours that stores records hangs for more than 30 s: it is ended',
    async (scene) => {
      await scene.begin();
      await untilSealedOn(scene);
      const hanging = scene.sql((sql) =>
        sql.begin(async (transaction) => {
          await transaction`set local application_name = 'assent-hangs'`;
          await transaction`select open_epoch()`;
          await hold(60);
        }),
      );
      const ended = hanging.then(
        () => false,
        () => true,
      );
      await untilUnsealed(scene, 500);
      const isEnded = await Promise.race([ended, hold(50).then(() => false)]);
      scene.expect(isEnded, 'the connection that holds the epoch is ended');
      await untilSealedOn(scene);
    },
  ),
  drill(
    'log-postgres-restored',
    'Postgres restored on another server, Redis empty: nothing is signed before a person decides',
    async (scene) => {
      const { load } = scene;
      await scene.begin();
      await untilSealedOn(scene);
      await setBack(scene, { asAnother: true });
      await scene.redisDo((redis) => redis.flushall());
      await scene.until(
        async () => (await haltedLogs(scene, 'unconfirmed')) === scene.sites.length,
        'all logs are halted',
      );
      const before = await sealed(scene);
      load.begin();
      await load.acknowledged(200);
      scene.expect((await sealed(scene)) === before, 'nothing is signed');
      for (const { domainId } of scene.sites) await scene.assent('log', 'restart', domainId);
      await scene.healed(100);
    },
  ),
];

const untilUnsealed = (scene: Scene, records: number): Promise<void> =>
  scene.until(async () => (await countUnsealed(scene)) > records, 'records wait to be sealed');
