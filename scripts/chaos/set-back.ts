/** Postgres set back to an earlier moment, as by a restored backup or a failover that lost something. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { untilQuiet } from './check.ts';
import type { Scene } from './drill.ts';

export const sealed = async (scene: Scene): Promise<number> => {
  const [row] = await scene.sql(
    (sql) => sql<{ n: number }[]>`select coalesce(sum(checkpoint_size), 0)::int as n from logs`,
  );
  return row?.n ?? 0;
};

export const haltedLogs = async (scene: Scene, why: string): Promise<number> =>
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

/** What was acknowledged and signed since then is gone with the newer server, so the check does not look for it. */
export async function setBack(scene: Scene, options: { asAnother: boolean }): Promise<void> {
  const { load } = scene;
  const stopWhenQuiet = async () => {
    await load.end();
    await untilQuiet(scene);
  };
  await stopWhenQuiet();
  const goBack = await rememberPostgres(scene);
  const before = load.attempts.length;
  const signed = new Set(scene.checkpoints.seen);
  load.begin();
  await load.acknowledged(200);
  await stopWhenQuiet();
  load.attempts.splice(before);
  await goBack(options);
  for (const note of scene.checkpoints.seen) if (!signed.has(note)) scene.checkpoints.lost.add(note);
}
