/** Postgres: killed, frozen, slow, full, set back in time, or away while the API starts. */
import { statsAreRight } from '../check.ts';
import { type Drill, drill } from '../drill.ts';
import { type Fault, freeze, killOf, lockCounters, outageOf, withoutPostgres } from '../faults.ts';
import { makeBody } from '../load.ts';
import { serverPids } from '../postgres-server.ts';
import { haltedLogs, sealed, setBack } from '../set-back.ts';
import { fillDiskOf } from '../small-disk.ts';

const outage = outageOf(withoutPostgres);
const kill = killOf('postgres');

const fillDisk: Fault = async (scene) => {
  const end = await fillDiskOf(scene.postgres, () => scene.sql((sql) => sql`select 1`));
  const lines = () => scene.processes.flatMap((each) => each.lines);
  await scene.until(() => lines().some((line) => /No space left/.test(line)), 'Postgres has no space left');
  return end;
};

export const postgresDrills: Drill[] = [
  drill('postgres-kill', 'Postgres ends at once, without a shutdown, and is started again after 3 s', outage(kill, 3)),
  drill('postgres-freeze', 'SIGSTOP of Postgres and all its backends for 15 s', outage(freeze(serverPids), 15)),
  drill('postgres-slow', 'a lock that holds back every statement for 10 s', outage(lockCounters, 10)),
  {
    ...drill('postgres-disk-full', 'the disk of Postgres is full for 5 s (a tmpfs; needs root)', outage(fillDisk, 5)),
    smallDisk: { of: 'postgres', size: '128m' },
  },
  drill('postgres-older', 'an older copy of Postgres, Redis knows better: nothing is signed over', async (scene) => {
    const { load } = scene;
    const { api } = await scene.begin();
    await load.acknowledged(100);
    await setBack(scene, { asAnother: false });
    await scene.until(async () => (await haltedLogs(scene, 'behind')) === scene.sites.length, 'all logs are halted');
    const before = await sealed(scene);
    const isRight = () => statsAreRight(scene, api.baseUrl, 'redis');
    await scene.until(isRight, 'statistics are those of Postgres', 60_000);
    load.begin();
    await load.acknowledged(100);
    scene.expect((await sealed(scene)) === before, 'nothing is signed');
    await scene.assent('log', 'restart', '--all-behind');
    await scene.healed(100);
  }),
  drill('api-restart-without-postgres', 'an unknown key is a 503 while Postgres is away', async (scene) => {
    const { api } = await scene.begin();
    const end = await kill(scene);
    await scene.load.acknowledged(100);
    await scene.kill(api);
    const fresh = await scene.api();
    const { status } = await scene.load.send(scene.site, makeBody(), fresh.baseUrl);
    scene.expect(status === 503, `an unknown key is answered ${status} while Postgres is away`);
    await end();
    await scene.healed(200);
    const refused = scene.load.attempts.filter(({ outcome }) => outcome === 'refused').length;
    scene.expect(refused === 0, `${refused} attempts were refused`);
  }),
];
