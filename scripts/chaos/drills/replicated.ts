/** Postgres with a streaming replica that lags, dies or takes over, and Postgres behind PgBouncer. */
import path from 'node:path';
import { parseCheckpoint } from '#libs/merkle/checkpoint';
import { parseNote } from '#libs/merkle/note';
import type { AssentProcess } from '../../stack/assent-process.ts';
import { startPgBouncer } from '../../stack/pgbouncer.ts';
import { statsAreRight, untilQuiet } from '../check.ts';
import { type Drill, drill, hold, type Scene } from '../drill.ts';
import { type Fault, withoutPostgres } from '../faults.ts';
import { eraseLast, revokeLast } from '../last-acts.ts';
import { countWaiting, isReplicaUsed, replicate, setOnPrimary, synchronousNames, watchReads } from '../replicated.ts';
import { haltedLogs, sealed } from '../set-back.ts';

const untilSealed = async (scene: Scene, more: number): Promise<void> => {
  const before = await sealed(scene);
  await scene.until(async () => (await sealed(scene)) >= before + more, `${more} records are sealed`);
};

/** Under load and read all the time: every answer is there in time, and none is older than it may be. */
const readThrough =
  (fault: (replica: Awaited<ReturnType<typeof replicate>>, scene: Scene) => Promise<void>) =>
  async (scene: Scene): Promise<void> => {
    const replica = await replicate(scene);
    const { api } = await scene.begin({ api: replica.env });
    await scene.until(() => isReplicaUsed(api), 'the replica is used');
    const reads = watchReads(scene, api);
    await hold(3);
    await fault(replica, scene);
    await scene.healed(200);
    await scene.until(() => isReplicaUsed(api), 'the replica is used again');
    await hold(3);
    for (const breach of await reads.stop()) scene.expect(false, breach);
    scene.expect(reads.answers() > 50, `there were only ${reads.answers()} reads`);
  };

/** A PgBouncer between, and the settings that lead a process through it. */
async function pool(scene: Scene) {
  const { url } = scene.postgres.running();
  const options = { dataDir: path.join(scene.folder, 'pgbouncer'), databaseUrl: url };
  let bouncer = await startPgBouncer(options);
  scene.onStop(() => bouncer.stop());
  const { port } = bouncer;
  return {
    env: { DATABASE_URL: bouncer.url, DATABASE_PREPARE: 'false' },
    leadTo: (other: string) => bouncer.leadTo(other),
    kill: async () => {
      bouncer.kill();
      await bouncer.exited;
    },
    start: async () => {
      bouncer = await startPgBouncer({ ...options, port });
    },
  };
}

/** What was signed, and what the promoted server lacks, is gone; the check does not look for it. */
async function forgetLost(scene: Scene): Promise<number> {
  const logs = await scene.sql(
    (sql) => sql<{ origin: string; size: number }[]>`select origin, checkpoint_size as size from logs`,
  );
  const sizes = new Map(logs.map(({ origin, size }) => [origin, size]));
  for (const note of scene.checkpoints.seen) {
    const { origin, size } = parseCheckpoint(parseNote(note).text);
    if (size > (sizes.get(origin) ?? 0)) scene.checkpoints.lost.add(note);
  }
  return scene.checkpoints.lost.size;
}

/** Ids of acknowledged records that are not stored. */
async function findLost({ sql, load }: Scene): Promise<string[]> {
  const stored = new Set(
    (await sql((running) => running<{ id: string }[]>`select id from records`)).map(({ id }) => id),
  );
  const acknowledged = load.attempts.filter(({ outcome }) => outcome === 'acknowledged');
  return acknowledged.map(({ body }) => body.id).filter((id) => !stored.has(id));
}

/** With the new address, as an operator does after a failover. */
async function restartAll(scene: Scene, old: AssentProcess): Promise<AssentProcess> {
  await scene.kill(old);
  const [api] = await Promise.all([scene.api(), scene.worker()]);
  return api;
}

/** The promoted server was told to wait for the replica that it was itself. */
async function takeOver(scene: Scene, leadThere: () => void): Promise<void> {
  leadThere();
  await scene.until(async () => (await countWaiting(scene)) > 0, 'commits wait for a replica that is not there');
  await setOnPrimary(scene, synchronousNames, '');
}

async function expectNoHalt(scene: Scene): Promise<void> {
  scene.expect((await haltedLogs(scene, 'behind')) === 0, 'no log is behind');
  scene.expect((await haltedLogs(scene, 'unconfirmed')) === 0, 'no log is unconfirmed');
}

export const replicatedDrills: Drill[] = [
  drill(
    'replica-lags',
    'the replica stops to replay for 10 s: reads go to the primary, and none is too old',
    readThrough(async (replica, scene) => {
      await replica.sql((sql) => sql`select pg_wal_replay_pause()`);
      await hold(10);
      await scene.load.acknowledged(100);
      await replica.sql((sql) => sql`select pg_wal_replay_resume()`);
    }),
  ),
  drill(
    'replica-dies',
    'the replica is killed for 5 s, three times: every read is answered',
    readThrough(async (replica, scene) => {
      for (let round = 0; round < 3; round += 1) {
        await replica.kill();
        await hold(5);
        await scene.load.acknowledged(100);
        await replica.start();
        await hold(2);
      }
    }),
  ),
  drill(
    'postgres-failover',
    'the primary dies, the replica lacks its last seconds and is promoted: logs that lack entries are halted, and an erasure and a revoked key are put right',
    async (scene) => {
      const { load } = scene;
      const replica = await replicate(scene);
      const { api, worker } = await scene.begin();
      const [erasure, revocation] = [await eraseLast(scene, api), await revokeLast(scene)];
      await untilSealed(scene, 200);
      await replica.cutOff();
      await untilSealed(scene, 200);
      await erasure.perform();
      await revocation.perform();
      await scene.checkpoints.look();
      // from here on the primary gets nothing that is not in Redis either
      await scene.kill(worker);
      const lacking = await replica.lacks();
      scene.allowed.lost = lacking.size;
      await replica.promote();
      const lost = await forgetLost(scene);
      scene.expect(lost > 0, 'checkpoints are lost');
      const fresh = await restartAll(scene, api);
      await erasure.putRight();
      await revocation.putRight();
      await scene.until(async () => (await haltedLogs(scene, 'behind')) > 0, 'logs are halted');
      const told = await scene.assent('log', 'status');
      scene.expect(told.includes('behind'), 'log status says so');
      const signed = await sealed(scene);
      await load.acknowledged(200);
      scene.expect((await sealed(scene)) === signed, 'nothing is signed');
      await scene.assent('log', 'restart', '--all-behind');
      await scene.healed(200);
      await load.end();
      await untilQuiet(scene);
      const others = (await findLost(scene)).filter((id) => !lacking.has(id));
      scene.expect(others.length === 0, `I1: ${others.length} records are lost that were in Redis or on the replica`);
      const isRight = () => statsAreRight(scene, fresh.baseUrl, 'redis');
      await scene.until(isRight, 'statistics are those of Postgres', 60_000);
    },
  ),
  drill(
    'postgres-failover-synchronous',
    'the same with synchronous_standby_names, through PgBouncer: nothing is lost or halted, and no process is restarted',
    async (scene) => {
      const [replica, bouncer] = [await replicate(scene, { synchronous: true }), await pool(scene)];
      await scene.begin({ api: bouncer.env, worker: bouncer.env });
      await untilSealed(scene, 200);
      await replica.promote();
      await hold(3);
      await takeOver(scene, () => bouncer.leadTo(replica.running().url));
      await scene.healed(300);
      await untilSealed(scene, 200);
      await expectNoHalt(scene);
    },
  ),
  drill(
    'synchronous-replica-away',
    'the one synchronous replica is away for 45 s: records wait in Redis, and all are stored once it is back',
    async (scene) => {
      const replica = await replicate(scene, { synchronous: true });
      const kill: Fault = async () => {
        await replica.kill();
        return async () => {
          console.log(`${await countWaiting(scene)} connections wait for the replica`);
          await replica.start();
        };
      };
      await scene.begin();
      await withoutPostgres(scene, kill, 45);
    },
  ),
  drill(
    'synchronous-replica-late',
    'it is away for 45 s, then the primary dies and it is promoted: nothing that was acknowledged meanwhile is lost',
    async (scene) => {
      const [replica, bouncer] = [await replicate(scene, { synchronous: true }), await pool(scene)];
      await scene.begin({ api: bouncer.env, worker: bouncer.env });
      await untilSealed(scene, 200);
      await replica.kill();
      await scene.load.acknowledged(300);
      // longer than a worker bears with who keeps an epoch open
      await hold(45);
      await scene.postgres.kill();
      await replica.start();
      await replica.promote();
      await takeOver(scene, () => bouncer.leadTo(replica.running().url));
      await scene.healed(300);
      await untilSealed(scene, 200);
      await expectNoHalt(scene);
    },
  ),
  drill('pgbouncer-restarts', 'PgBouncer is killed three times, for 3 s each: nothing is lost', async (scene) => {
    const bouncer = await pool(scene);
    const kill: Fault = async () => {
      await bouncer.kill();
      return bouncer.start;
    };
    await scene.begin({ api: bouncer.env, worker: bouncer.env });
    for (let round = 0; round < 3; round += 1) await withoutPostgres(scene, kill, 3);
  }),
];
