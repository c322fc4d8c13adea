/** Postgres: killed, frozen, slow, full, or away while the API starts. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { untilQuiet } from '../check.ts';
import { begin, type Drill, hold, type Scene } from '../drill.ts';
import { expectNoAttemptUsed, firstSite, kill, lockCounters, statsAreRight } from '../faults.ts';
import { makeBody } from '../load.ts';

const stopAtOnce = async (scene: Scene) => {
  scene.stack.postgres().kill();
  await scene.stack.postgres().exited;
};

/** The postmaster and all that it forked. */
const backends = (scene: Scene): number[] => {
  const { pid } = scene.stack.postgres();
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return [pid, ...stdout.trim().split(/\s+/).filter(Boolean).map(Number)];
};

const tmpfsMegabytes = 128;

export const postgresDrills: Drill[] = [
  {
    name: 'postgres-kill',
    about: 'Postgres ends at once, without a shutdown, and is started again after 3 s',
    quick: true,
    run: async (scene) => {
      await begin(scene);
      await stopAtOnce(scene);
      await scene.load.acknowledged(300);
      await hold(3);
      await expectNoAttemptUsed(scene);
      await scene.stack.startPostgres();
      scene.healed();
      await scene.load.acknowledged(200);
    },
  },
  {
    name: 'postgres-freeze',
    about: 'SIGSTOP of Postgres and all its backends for 15 s',
    run: async (scene) => {
      await begin(scene);
      const frozen = backends(scene);
      for (const pid of frozen) process.kill(pid, 'SIGSTOP');
      await scene.load.acknowledged(300);
      await hold(15);
      await expectNoAttemptUsed(scene);
      for (const pid of frozen) process.kill(pid, 'SIGCONT');
      scene.healed();
      await scene.load.acknowledged(200);
    },
  },
  {
    name: 'postgres-slow',
    about: 'a lock that holds back every statement for 10 s',
    run: async (scene) => {
      await begin(scene);
      const lock = await lockCounters(scene);
      await hold(10);
      await expectNoAttemptUsed(scene);
      await lock.release();
      scene.healed();
      await scene.load.acknowledged(200);
    },
  },
  {
    name: 'postgres-disk-full',
    about: 'the disk of Postgres is full for 5 s (a small tmpfs; needs root)',
    prepare: async () => {
      const mountPoint = mkdtempSync(path.join(os.tmpdir(), 'assent-disk-'));
      const { status } = spawnSync('mount', [
        '-t',
        'tmpfs',
        '-o',
        `size=${tmpfsMegabytes}m,mode=755`,
        'tmpfs',
        mountPoint,
      ]);
      if (status !== 0) {
        rmdirSync(mountPoint);
        return undefined;
      }
      const postgresFolder = path.join(mountPoint, 'postgres');
      mkdirSync(postgresFolder);
      return {
        postgresFolder,
        undo: async () => {
          spawnSync('umount', [mountPoint]);
          rmdirSync(mountPoint);
        },
      };
    },
    run: async (scene) => {
      const { worker } = await begin(scene);
      const filler = path.join(path.dirname(scene.stack.postgres().dataDir), 'filler');
      spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k']);
      await scene.load.acknowledged(300);
      await scene.until(() => worker.lines.some((line) => /No space left/.test(line)), 'Postgres has no room');
      await hold(5);
      await expectNoAttemptUsed(scene);
      spawnSync('rm', [filler]);
      // a Postgres that could not write its log ends itself
      if (!(await answers(scene))) {
        await scene.stack.postgres().stop();
        await scene.stack.startPostgres();
      }
      scene.healed();
      await scene.load.acknowledged(200);
    },
  },
  {
    name: 'postgres-older',
    about: 'Postgres is replaced by an older copy of itself, as after a failover: Redis, now ahead, is set right',
    run: async (scene) => {
      const { api } = await begin(scene);
      await scene.load.end();
      await untilQuiet(scene.stack);
      const { dataDir } = scene.stack.postgres();
      const cluster = path.join(dataDir, 'cluster');
      const older = path.join(dataDir, 'older');
      await scene.stack.postgres().stop();
      spawnSync('cp', ['-a', cluster, older]);
      await scene.stack.startPostgres();
      const before = scene.load.attempts.length;
      scene.load.begin();
      await scene.load.acknowledged(200);
      await scene.load.end();
      await untilQuiet(scene.stack);
      await scene.stack.postgres().stop();
      // what the copy lacks is gone with the old server: nobody can promise it, so it is not looked for
      scene.load.attempts.splice(before);
      spawnSync('rm', ['-rf', cluster]);
      spawnSync('mv', [older, cluster]);
      await scene.stack.startPostgres();
      scene.healed();
      await scene.until(() => statsAreRight(scene, api.baseUrl, 'redis'), 'statistics are those of Postgres', 60_000);
      scene.load.begin();
      await scene.load.acknowledged(100);
    },
  },
  {
    name: 'api-restart-without-postgres',
    about: 'the API is started anew while Postgres is away: a key that it cannot look up is a 503, never a 401',
    quick: true,
    run: async (scene) => {
      const { api } = await begin(scene);
      await stopAtOnce(scene);
      await scene.load.acknowledged(100);
      await kill(scene, api);
      const fresh = await scene.api();
      const { status } = await scene.load.send(firstSite(scene), makeBody(), fresh.baseUrl);
      scene.expect(status === 503, `an unknown key is answered ${status} while Postgres is away`);
      await scene.stack.startPostgres();
      scene.healed();
      await scene.load.acknowledged(200);
      const refused = scene.load.attempts.filter(({ outcome }) => outcome === 'refused').length;
      scene.expect(refused === 0, `${refused} attempts were refused`);
    },
  },
];

const answers = (scene: Scene): Promise<boolean> =>
  scene.stack
    .sql((sql) => sql`select 1`)
    .then(
      () => true,
      () => false,
    );
