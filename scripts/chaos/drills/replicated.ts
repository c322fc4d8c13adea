/** Postgres with a streaming replica that takes over, also behind PgBouncer. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import type { Sql } from '#libs/base/db/database';
import { answersReady } from '../../stack/assent-process.ts';
import { startPgBouncer } from '../../stack/pgbouncer.ts';
import { startPostgres } from '../../stack/postgres.ts';
import { startReplica } from '../../stack/replica.ts';
import { restartable } from '../../stack/server.ts';
import { callUntilDone } from '../calls.ts';
import { statsAreRight } from '../check.ts';
import type { Drill } from '../drill.ts';
import { kill, setOnPrimary } from '../faults.ts';
import { isAcknowledged, makeBody, need, toErase } from '../load.ts';
import { hold, type Scene, startProxy } from '../scene.ts';
import { countHalted, countSealed, untilSealed } from '../sealed-log.ts';
import type { AppProcess } from '../stack.ts';
import { perform, startSystem } from '../system.ts';

const synchronousNames = 'synchronous_standby_names';

/** `synchronous`: set before the copy is made, so that both have it, as where one file configures both. */
async function replicate(scene: Scene, { synchronous = false } = {}) {
  const primary = scene.postgres.running();
  await setOnPrimary(scene, 'wal_keep_size', '1GB');
  if (synchronous) await setOnPrimary(scene, synchronousNames, 'replica');
  const proxy = await startProxy(primary.port);
  scene.onStop(proxy.close);
  const first = await startReplica({ primary, through: proxy.port, dataDir: path.join(scene.folder, 'replica') });
  const { dataDir } = first;
  const replica = restartable(first, (port) => startPostgres({ dataDir, port }));
  scene.onStop(async () => {
    await replica.running().stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const sql = <T>(work: (sql: Sql) => Promise<T>) => scene.sql(work, replica.running());
  const listIds = (running: Sql) => running<{ id: string }[]>`select id from records`;
  return {
    ...replica,
    sql,
    /** It gets nothing more of the primary, once it has all of it. */
    cutOff: async () => {
      const [end] = await scene.sql((running) => running<{ lsn: string }[]>`select pg_current_wal_lsn() as lsn`);
      const hasAll = async () => {
        const [row] = await sql(
          (own) => own<{ hasAll: boolean }[]>`select pg_last_wal_replay_lsn() >= ${end?.lsn ?? ''}::pg_lsn as "hasAll"`,
        );
        return row?.hasAll === true;
      };
      await scene.until(hasAll, 'the replica catches up');
      proxy.set('hold');
    },
    /** Ids of records that the primary has and the replica lacks. */
    lacks: async (): Promise<Set<string>> => {
      const own = new Set((await sql(listIds)).map(({ id }) => id));
      return new Set((await scene.sql(listIds)).map(({ id }) => id).filter((id) => !own.has(id)));
    },
    /** It takes the place of the primary, which is gone, also for what the drill reads. */
    promote: async () => {
      await sql((own) => own`select pg_promote()`);
      scene.postgres.become(replica.running());
    },
    /** The promoted server was told to wait for the replica that it was itself. */
    leadAlone: async () => {
      const waits = async () => (await countWaiting(scene)) > 0;
      await scene.until(waits, 'commits wait for a replica that is not there');
      await setOnPrimary(scene, synchronousNames, '');
    },
  };
}

/** Connections whose commits wait for a synchronous standby. */
const countWaiting = ({ count }: Scene): Promise<number> =>
  count((sql) => sql`select count(*)::int as n from pg_stat_activity where wait_event = 'SyncRep'`);

/** The replica lacks the last seconds: records, checkpoints, and an erasure. */
async function failOver(scene: Scene): Promise<void> {
  const { load, site, checkpoints } = scene;
  const replica = await replicate(scene);
  const { api, worker } = await scene.begin();
  const visitorId = `${toErase}1`;
  const isKnown = async () =>
    (await scene.count((sql) => sql`select count(*)::int as n from records where visitor_id = ${visitorId}`)) > 0;
  await load.deliver(site, { ...makeBody(), visitorId });
  await scene.until(isKnown, 'the record of a visitor is stored');
  await untilSealed(scene, 200);

  await replica.cutOff();
  await untilSealed(scene, 200);
  const path = '/v1/organization/visitors/erase';
  await callUntilDone(scene, { scope: 'privacy', method: 'POST', path, body: JSON.stringify({ visitorId }) });
  await checkpoints.look();
  // from here on the primary gets nothing that is not in Redis either
  await scene.kill(worker);
  const lacking = await replica.lacks();
  await kill(scene.postgres);
  await replica.promote();
  // these may be lost, and no others
  for (const attempt of load.attempts) if (lacking.has(attempt.body.id)) attempt.status = 0;
  scene.expect((await checkpoints.forgetLost()) > 0, 'checkpoints are lost');
  console.log(`postgres-failover: the replica lacked ${lacking.size} records`);

  // with the new address, as an operator does it
  await scene.kill(api);
  await Promise.all([scene.api(), scene.worker()]);
  scene.expect(await isKnown(), 'the erasure is undone');
  await scene.assent('visitor', 'erase', '--replay');
  scene.expect(!(await isKnown()), 'the replay erases the visitor again');
  await scene.until(async () => (await countHalted(scene, 'behind')) > 0, 'logs are halted');
  scene.expect((await scene.assent('log', 'status')).includes('behind'), 'log status says so');
  const signed = await countSealed(scene);
  await load.acknowledged(200);
  scene.expect((await countSealed(scene)) === signed, 'nothing is signed');
  await scene.assent('log', 'restart', '--all-behind');
  await scene.load.acknowledged(200);
  await scene.until(() => statsAreRight(scene, 'redis'), 'statistics are those of Postgres');
}

/** Everything goes through a PgBouncer, and every commit waits for the replica. */
async function failOverSynchronously(scene: Scene): Promise<void> {
  const replica = await replicate(scene, { synchronous: true });
  const options = { dataDir: path.join(scene.folder, 'pgbouncer'), databaseUrl: scene.postgres.url };
  const bouncer = restartable(await startPgBouncer(options), (port) => startPgBouncer({ ...options, port }));
  scene.onStop(() => bouncer.running().stop());
  const parts = await startSystem(scene, { env: { DATABASE_URL: bouncer.url, DATABASE_PREPARE: 'false' } });
  parts.set('bouncer', { kill: () => kill(bouncer) });
  parts.set('replica', { kill: () => kill(replica) });
  await untilSealed(scene, 200);
  await perform(parts, [
    ...[2, 7, 12].map((from) => ({ part: 'bouncer', what: 'kill', from, to: from + 3 })),
    // longer than a worker bears with who keeps an epoch open
    { part: 'replica', what: 'kill', from: 20, to: 65 },
  ]);
  await untilSealed(scene, 300);

  const end = await kill(replica);
  await hold(45);
  console.log(`postgres-failover-synchronous: ${await countWaiting(scene)} connections wait for the replica`);
  await kill(scene.postgres);
  await end();
  await replica.promote();
  bouncer.running().leadTo(replica.url);
  await replica.leadAlone();
  await scene.load.acknowledged(300);
  await untilSealed(scene, 200);
  const halted = (await countHalted(scene, 'behind')) + (await countHalted(scene, 'unconfirmed'));
  scene.expect(halted === 0, `${halted} logs are halted`);
}

export const replicatedDrills: Drill[] = [
  {
    name: 'postgres-failover',
    about: 'the replica lacks the last seconds and is promoted: logs are halted, and an erasure is put right',
    run: failOver,
  },
  {
    name: 'postgres-failover-synchronous',
    about:
      'PgBouncer is killed, the synchronous replica is away for 45 s, and again until the primary has died and it is promoted: nothing is lost or halted',
    run: failOverSynchronously,
  },
];

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
    await checkBanner(scene, { api, old: need(oldApis[0]) });
    await sealsWithoutPlace(scene, api);

    // what both APIs take waits for the new worker
    await scene.stopProcess(oldWorker);
    await some();
    const worker = await scene.worker();
    await untilStored(scene, 'the new worker stores what waits');

    const apis = [api];
    for (const old of oldApis) {
      if (old !== oldApis.at(-1)) apis.push(await scene.api());
      await scene.stopProcess(old);
      await some();
    }
    await some();
    await checkLogins(scene);
    await goBack(scene, { worker, apis }, some);
    await checkLogins(scene);
    const sent = (load.attempts.length * 1_000) / (performance.now() - started);
    console.log(`upgrade: ${Math.round(sent)} requests/s were sent`);
  },
});

/** It is published while both releases run. */
async function checkBanner(scene: Scene, { api, old }: { api: AppProcess; old: AppProcess }): Promise<void> {
  const { site, load } = scene;
  const file = ({ baseUrl }: AppProcess) => fetch(`${baseUrl}/w/${site.domainId}.js`);
  await scene.assent('banner', 'publish', site.domainId);
  let apiKey = '';
  const isServed = async () => {
    apiKey = /"key":"(ak_[\w-]+)"/.exec(await (await file(api)).text())?.[1] ?? '';
    return apiKey !== '';
  };
  await scene.until(isServed, 'the new API serves the banner that was published');
  scene.expect((await file(old)).status === 404, 'the API of the release before has no banner');
  for (const each of [api, old])
    scene.expect(isAcknowledged(await load.send({ ...site, apiKey }, makeBody(), each)), "both take the banner's key");
}

/** The worker of the release before seals what it does not know all fields of; this one's only stores. */
async function sealsWithoutPlace(scene: Scene, api: AppProcess): Promise<void> {
  const worker = await scene.worker({ SEAL_SECONDS: '0' });
  const stored = (sql: Sql) => sql<{ n: number }[]>`select count(*)::int as n from records where model = 'opt_out'`;
  const sealed = (sql: Sql) => sql<{ n: number }[]>`
    select count(*)::int as n from records r
    where model = 'opt_out' and exists (
      select from log_runs l where l.domain_number = r.domain_number and (last_epoch, last_id) >= (r.epoch, r.id)
    )`;
  // the worker before may take each of them first, and puts it off by 15 s
  const isStored = async () => {
    if ((await scene.count(stored)) > 0) return true;
    await scene.load.send(scene.site, { ...makeBody(), model: 'opt_out' }, api);
    return false;
  };
  await scene.until(isStored, 'this worker stores a record with a model');
  await scene.until(async () => (await scene.count(sealed)) > 0, 'a record with a model is sealed without it');
  await scene.stopProcess(worker);
}

async function checkLogins(scene: Scene): Promise<void> {
  const ofOwner = (sql: Sql) => sql<{ n: number }[]>`
    select count(*)::int as n from pg_stat_activity
    where application_name in ('assent-api', 'assent-worker')
      and usename <> replace(application_name, '-', '_') || '_login'`;
  scene.expect((await scene.count(ofOwner)) === 0, 'each new process has a login of its own');
}

/** To the release before, all at once as Compose does but for the APIs, which load is on; and forward again. */
async function goBack(
  scene: Scene,
  { worker, apis }: { worker: AppProcess; apis: AppProcess[] },
  some: () => Promise<void>,
): Promise<void> {
  const before = need(scene.before);
  await scene.stopProcess(worker);
  await scene.assentBefore('migrate');
  const old = await Promise.all([scene.worker({}, before), scene.api({}, before), scene.api({}, before)]);
  for (const each of apis) await scene.stopProcess(each);
  await untilStored(scene, 'the release before stores on the schema of this one, after this one has');
  await some();
  await scene.assent('migrate');
  const api = await scene.api();
  for (const each of old) await scene.stopProcess(each);
  await scene.worker();
  await untilStored(scene, 'this release stores again', api);
}

/** A record that is sent now comes to Postgres. */
async function untilStored(scene: Scene, promise: string, api?: AppProcess): Promise<void> {
  const { body } = await scene.load.send(scene.site, makeBody(), api);
  const isStored = async () =>
    (await scene.count((sql) => sql`select count(*)::int as n from records where id = ${body.id}`)) === 1;
  await scene.until(isStored, promise);
}
