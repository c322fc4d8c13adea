/** The sealed log: its sealer killed at every step, two of them, epochs that cannot be closed, a Postgres set back in time. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { untilQuiet } from '../check.ts';
import { countUnsealed } from '../check-log.ts';
import { type Drill, drill, hold, quick, type Scene } from '../drill.ts';

/** What sealing changes, in this order: held back there, it has closed an epoch, is between runs, folds, or has signed. */
const steps = ['derivations', 'log_runs', 'log_nodes', 'logs', 'log_keys'] as const;

/** Keeps everybody from changing the table, until the returned function is called. */
function lockTable(scene: Scene, table: string): Promise<() => Promise<void>> {
  return new Promise((resolve, reject) => {
    const transaction = scene.sql((sql) =>
      sql.begin(async (locking) => {
        await locking`lock table ${locking(table)} in exclusive mode`;
        await new Promise<void>((release) => {
          resolve(async () => {
            release();
            await transaction;
          });
        });
      }),
    );
    transaction.catch(reject);
  });
}

const waitsFor = async (scene: Scene, table: string): Promise<boolean> => {
  const rows = await scene.sql(
    (sql) => sql`
      select from pg_locks join pg_stat_activity using (pid)
      where not granted and relation = ${table}::regclass and application_name = 'assent-worker'`,
  );
  return rows.length > 0;
};

const sealed = async (scene: Scene): Promise<number> => {
  const [row] = await scene.sql(
    (sql) => sql<{ n: number }[]>`select coalesce(sum(checkpoint_size), 0)::int as n from logs`,
  );
  return row?.n ?? 0;
};

const untilSealedOn = async (scene: Scene): Promise<void> => {
  const before = await sealed(scene);
  await scene.until(async () => (await sealed(scene)) > before, 'records are sealed');
};

const haltedLogs = async (scene: Scene, why: string): Promise<number> =>
  (await scene.sql((sql) => sql`select from logs where halted = ${why} and ended_at is null`)).length;

/** Postgres as it was when this was called first, once what this returns is called. */
async function rememberPostgres(scene: Scene) {
  const { dataDir } = scene.postgres.running();
  const [cluster, older] = [path.join(dataDir, 'cluster'), path.join(dataDir, 'older')];
  await scene.postgres.running().stop();
  spawnSync('cp', ['-a', cluster, older]);
  await scene.postgres.start();
  /** `asAnother`: as a server of its own, with a timeline of its own, like one that was restored from a backup */
  return async ({ asAnother }: { asAnother: boolean }) => {
    await scene.postgres.running().stop();
    spawnSync('rm', ['-rf', cluster]);
    spawnSync('mv', [older, cluster]);
    if (asAnother) {
      appendFileSync(path.join(cluster, 'postgresql.auto.conf'), "\nrestore_command = 'false'\n");
      writeFileSync(path.join(cluster, 'recovery.signal'), '');
      spawnSync('chown', ['--reference', path.join(cluster, 'PG_VERSION'), path.join(cluster, 'recovery.signal')]);
    }
    await scene.postgres.start();
  };
}

/** What was acknowledged since then is gone with the newer server, so the check does not look for it. */
async function setBack(scene: Scene, options: { asAnother: boolean }): Promise<void> {
  const { load } = scene;
  const stopWhenQuiet = async () => {
    await load.end();
    await untilQuiet(scene);
  };
  await stopWhenQuiet();
  const goBack = await rememberPostgres(scene);
  const before = load.attempts.length;
  load.begin();
  await load.acknowledged(200);
  await stopWhenQuiet();
  load.attempts.splice(before);
  await goBack(options);
}

export const logDrills: Drill[] = [
  quick('sealer-kill', 'kill -9 of the worker at every step of sealing', async (scene) => {
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
    'log-postgres-older',
    'Postgres of an earlier moment, Redis knows better: nothing is signed over',
    async (scene) => {
      const { load } = scene;
      await scene.begin();
      await untilSealedOn(scene);
      await setBack(scene, { asAnother: false });
      await scene.until(async () => (await haltedLogs(scene, 'behind')) === scene.sites.length, 'all logs are halted');
      const before = await sealed(scene);
      load.begin();
      await load.acknowledged(200);
      scene.expect((await sealed(scene)) === before, 'nothing is signed');
      await scene.assent('log', 'restart', '--all-behind');
      await scene.healed(100);
    },
  ),
  drill(
    'log-postgres-restored',
    'Postgres restored on another server, Redis empty: confirmed by a person',
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
      await scene.assent('log', 'confirm');
      await scene.healed(100);
    },
  ),
];

const untilUnsealed = (scene: Scene, records: number): Promise<void> =>
  scene.until(async () => (await countUnsealed(scene)) > records, 'records wait to be sealed');
