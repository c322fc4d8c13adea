/** A random run: the plan's faults under load, with everything else that an installation does going on meanwhile. */
import { succeeds } from '../../stack/wait.ts';
import { bodyOf, readAlong } from '../calls.ts';
import type { Drill } from '../drill.ts';
import { need } from '../load.ts';
import { type Activity, hold, type Scene } from '../scene.ts';
import { takeProofs } from '../sealed-log.ts';
import { perform, startSystem } from '../system.ts';
import { eraseVisitors, exportRecords, importFiles, importYears, makeHistory, receiveWebhooks } from './activities.ts';
import { calm, makePlan } from './plan.ts';

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

/** Somebody who looks at all processes' metrics: an age or a count below zero would keep its alert silent. */
function watchGauges(scene: Scene): Activity {
  // the sign says which process' clock is ahead
  const signed = /skew/;
  let looks = 0;
  const seen = new Set<string>();
  const look = async (app: string, opsUrl: string): Promise<void> => {
    const response = await fetch(`${opsUrl}/metrics`, { signal: AbortSignal.timeout(5_000) });
    const text = String(await bodyOf(response));
    looks += 1;
    for (const [line, name = ''] of text.matchAll(/^(assent_\w+)(?:\{.*\})? -\d.*$/gm)) {
      if (signed.test(name) || seen.has(name)) continue;
      seen.add(name);
      scene.expect(false, `a gauge of a ${app} is negative: ${line}`);
    }
  };
  return {
    work: async () => {
      const running = scene.processes.filter(({ process }) => process.running());
      // one that is frozen, or waits for a store, does not answer
      await Promise.allSettled(running.map(({ app, opsUrl }) => look(app, opsUrl)));
    },
    check: () => console.log(`${looks} looks at metrics`),
  };
}

/** An operator who ends a log and begins the next one, while receivers follow both. */
function restartLogs(scene: Scene): Activity {
  let [restarted, tries] = [0, 0];
  return {
    pause: 20_000,
    work: async () => {
      const { domainId } = need(scene.sites[tries++ % scene.sites.length]);
      // a store may be away, or the domain has no log yet
      if (await succeeds(scene.assent('log', 'restart', domainId, '--yes'))) restarted += 1;
    },
    check: () => {
      scene.expect(restarted > 0, 'no log was restarted');
      console.log(`${restarted} of ${tries} times a log was restarted`);
    },
  };
}
