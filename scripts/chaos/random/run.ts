/** A random run: the plan's faults under load, with everything else that an installation does going on meanwhile. */
import type { Drill } from '../drill.ts';
import { takeProofs } from '../proofs.ts';
import { readAlong } from '../reads.ts';
import { hold } from '../scene.ts';
import { perform, startSystem } from '../system.ts';
import { eraseVisitors } from './erasures.ts';
import { watchGauges } from './gauges.ts';
import { importYears, makeHistory } from './history.ts';
import { restartLogs } from './log-restarts.ts';
import { calm, makePlan } from './plan.ts';
import { exportRecords, importFiles } from './transfers.ts';
import { receiveWebhooks } from './webhooks.ts';

/** More than history has, and fewer than a clock goes wrong by. */
const keptMonths = '36';

export function randomDrill({ seed, minutes }: { seed: number; minutes: number }): Drill {
  const plan = makePlan(seed, minutes);
  const again = `npm run chaos -- --random --minutes ${minutes} --seed ${seed}`;
  return {
    name: `random-${seed}`,
    about: again,
    // as text, which can be searched for erased visitors
    redisSettings: { 'aof-use-rdb-preamble': 'no' },
    clocks: true,
    // with 700 MB Postgres ran out of space by itself: it keeps up to a gigabyte of write-ahead log between two checkpoints
    smallDisks: '2g',
    rate: 50,
    run: async (scene) => {
      console.log(`${plan.length} faults; once more: ${again}`);
      if (!scene.hasSmallDisk.postgres) console.log('no small disks can be mounted here: stores are killed instead');
      const erased = new Map<string, number>();
      await makeHistory(scene, erased);
      const retention = { RECORD_RETENTION_MONTHS: keptMonths, PERSONAL_RETENTION_MONTHS: keptMonths };
      const parts = await startSystem(scene, { env: retention, links: true });
      const webhooks = await receiveWebhooks(scene, erased);
      await importYears(scene);
      for (const start of [importFiles, exportRecords, readAlong, takeProofs, watchGauges, restartLogs])
        scene.alongside(start(scene));
      scene.alongside(eraseVisitors(scene, erased));
      scene.alongside(webhooks);
      scene.alongside({
        check: () => {
          const unforeseen = /"event":"bug"|"msg":"(unhandled|records could not be stored)/;
          const bugs = scene.processes.flatMap(({ lines }) => lines.filter((line) => unforeseen.test(line)));
          scene.expect(bugs.length === 0, `${bugs.length} failures that nobody foresaw, such as ${bugs[0]}`);
        },
      });
      await perform(parts, plan);
      await hold(calm.last);
    },
  };
}
