/** A streaming replica for a drill, which can be cut off, killed and promoted, and reads that watch how old its answers are. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { repeat } from '#libs/runtime/repeat';
import { createDatabase, type Sql } from '#libs/store/sql';
import type { AssentProcess } from '../stack/assent-process.ts';
import { startPostgres } from '../stack/postgres.ts';
import { startReplica } from '../stack/replica.ts';
import { readAs } from './check.ts';
import type { Scene } from './drill.ts';
import { startProxy } from './proxy.ts';

/** seconds */
const maxLag = 2;
export const synchronousNames = 'synchronous_standby_names';
/** Milliseconds: a second passes between two looks at the replica, and another until an answer is there. */
const oldest = maxLag * 1_000 + 2_000;

/** `synchronous`: set before the copy is made, so that both have it, as where one file configures both. */
export async function replicate(scene: Scene, { synchronous = false } = {}) {
  const primary = scene.postgres.running();
  await setOnPrimary(scene, 'wal_keep_size', '1GB');
  if (synchronous) await setOnPrimary(scene, synchronousNames, 'replica');
  const proxy = await startProxy(primary.port);
  scene.onStop(proxy.close);
  let replica = await startReplica({ primary, through: proxy.port, dataDir: path.join(scene.folder, 'replica') });
  scene.onStop(async () => {
    await replica.stop();
    rmSync(replica.dataDir, { recursive: true, force: true });
  });
  const sql = async <T>(work: (sql: Sql) => Promise<T>): Promise<T> => {
    const options = { max: 1, statementTimeout: 0, deadline: 60_000, prepare: true, name: 'chaos' };
    const db = createDatabase({ ...options, url: replica.url });
    return db.run(work).finally(db.close);
  };
  return {
    sql,
    running: () => replica,
    /** for an API that reads from it */
    env: { DATABASE_READ_URL: replica.url, DATABASE_READ_MAX_LAG: String(maxLag) },
    kill: async () => {
      replica.kill();
      await replica.exited;
    },
    start: async () => {
      replica = await startPostgres({ dataDir: replica.dataDir, port: replica.port });
    },
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
      proxy.set('refuse');
    },
    /** Ids of records that the primary has and the replica lacks. */
    lacks: async (): Promise<Set<string>> => {
      const read = (store: Sql) => store<{ id: string }[]>`select id from records`;
      const own = new Set((await sql(read)).map(({ id }) => id));
      return new Set((await scene.sql(read)).map(({ id }) => id).filter((id) => !own.has(id)));
    },
    /** The primary is gone, and it takes its place, also for what the drill reads. */
    promote: async () => {
      await scene.postgres.kill();
      await sql((replicaSql) => replicaSql`select pg_promote()`);
      scene.postgres.become(replica);
    },
  };
}

export async function setOnPrimary(scene: Scene, name: string, value: string): Promise<void> {
  await scene.sql((sql) => sql.unsafe(`alter system set ${name} = '${value}'`));
  await scene.sql((sql) => sql`select pg_reload_conf()`);
}

/** Connections whose commits wait for a synchronous standby. */
export const countWaiting = async (scene: Scene): Promise<number> =>
  (await scene.sql((sql) => sql`select from pg_stat_activity where wait_event = 'SyncRep'`)).length;

export const isReplicaUsed = async ({ opsUrl }: AssentProcess): Promise<boolean> => {
  const response = await fetch(`${opsUrl}/readyz`);
  return ((await response.json()) as { replica: unknown }).replica === true;
};

/** Reads what may come from the replica, over and over. `stop` says what was wrong with the answers. */
export function watchReads(scene: Scene, { baseUrl }: AssentProcess) {
  const { organizationId } = scene.site;
  const wrong = new Set<string>();
  /** how many records the primary had */
  const known: { at: number; count: number }[] = [];
  let answers = 0;
  const count = async () => {
    const [row] = await scene.sql(
      (sql) => sql<{ count: number }[]>`
        select count(*) from records join domains on number = domain_number where organization_id = ${organizationId}`,
    );
    known.push({ at: performance.now(), count: row?.count ?? 0 });
  };
  const ask = async () => {
    const asked = performance.now();
    const response = await readAs(scene.site, scene, `${baseUrl}/v1/consent/org-stats?limit=1`);
    const { recordsTotal } = (await response.json()) as { recordsTotal: number };
    const took = performance.now() - asked;
    answers += 1;
    if (response.status !== 200) wrong.add(`a read was answered ${response.status}`);
    if (took > 5_000) wrong.add(`a read took ${Math.round(took)} ms`);
    const before = known.findLast(({ at }) => at < asked - oldest);
    if (before && recordsTotal < before.count) wrong.add(`an answer was older than ${oldest} ms`);
  };
  const stops = [repeat(200, count, () => {}), repeat(50, ask, (error) => void wrong.add(String(error)))];
  return {
    answers: () => answers,
    stop: async (): Promise<string[]> => {
      for (const stop of stops) await stop();
      return [...wrong];
    },
  };
}
