/** More processes, and fewer again, as the operators' dashboard shows it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { AssentProcess } from '../../stack/assent-process.ts';
import { root } from '../../stack/paths.ts';
import { type Drill, drill, type Scene } from '../drill.ts';
import { rateSeconds, watch } from '../watch.ts';

/** By how much a rate of the last seconds may differ from what the load counts. */
const tolerance = 0.25;
/** that a job may wait while enough workers run */
const mostSeconds = 5;

const dashboard = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).optional() })),
});

/** The query of a panel of docs/monitoring/grafana.json. */
function panel(title: string): string {
  const file = path.join(root, 'docs/monitoring/grafana.json');
  const { panels } = dashboard.parse(JSON.parse(readFileSync(file, 'utf8')));
  const [target] = panels.find((each) => each.title === title)?.targets ?? [];
  if (!target) throw new Error(`the dashboard has no panel ${title}`);
  return target.expr.replaceAll('$__rate_interval', `${rateSeconds}s`);
}

const countStoredBy = async ({ opsUrl }: AssentProcess): Promise<number> => {
  const text = await (await fetch(`${opsUrl}/metrics`)).text();
  return Number(/^assent_records_total\{.*outcome="stored".*\} (\d+)$/m.exec(text)?.[1] ?? 0);
};

async function stop(scene: Scene, ending: AssentProcess): Promise<void> {
  scene.takeOff(ending);
  const { code } = await ending.process.stop();
  scene.expect(code === 0, `a process ends with ${code}, not 0`);
  await scene.load.acknowledged(100);
}

export const scaleDrills: Drill[] = [
  drill(
    'scale',
    'workers 1 → 4 → 1 and API processes 1 → 2 → 1 under load: no request fails, and the dashboard tells it right',
    async (scene) => {
      scene.allowed.failures = false;
      const { api, worker } = await scene.begin();
      const { ask } = await watch(scene);
      let shown: Record<string, number> = {};
      const shows = (apis: number, workers: number) =>
        scene.until(async () => {
          shown = await ask(panel('Running'));
          return shown['assent-api'] === apis && shown['assent-worker'] === workers;
        }, `the dashboard shows ${apis} and ${workers} processes`);
      /** What is acknowledged as queued is what the dashboard shows as queued, and as stored. */
      const ratesAreRight = async () => {
        const countQueued = () => scene.load.attempts.filter(({ how }) => how === 'queued').length;
        const [before, began] = [countQueued(), performance.now()];
        const isNear = (rate: number, shown: number) => Math.abs(shown / rate - 1) <= tolerance;
        await scene.until(async () => {
          const seconds = (performance.now() - began) / 1_000;
          if (seconds < rateSeconds) return false;
          const rate = (countQueued() - before) / seconds;
          shown = await ask(panel('Records'));
          const stored = (shown.stored ?? 0) + (shown.duplicate ?? 0);
          return isNear(rate, shown.queued ?? 0) && isNear(rate, stored);
        }, 'the dashboard shows the rate of the load');
        console.log(`scale: the dashboard shows ${JSON.stringify(shown)} records/s`);
      };
      /** Nobody waits for a record, none failed, and every process has its line. */
      const isCalm = async (processes: number) => {
        const oldest = await ask(panel('Oldest job'));
        const failed = await ask(panel('Failed requests'));
        const cores = Object.values(await ask(panel('CPU')));
        scene.expect(
          Math.max(...Object.values(oldest)) < mostSeconds,
          `the oldest job is ${JSON.stringify(oldest)} s old`,
        );
        scene.expect(failed[''] === 0, `the dashboard shows failed requests: ${JSON.stringify(failed)}`);
        scene.expect(cores.filter((used) => used > 0).length === processes, `CPU is that of ${cores.length} processes`);
      };
      await shows(1, 1);
      const workers = [worker, ...(await Promise.all([scene.worker(), scene.worker(), scene.worker()]))];
      await scene.api();
      await shows(2, 4);
      const allStore = async () => (await Promise.all(workers.map(countStoredBy))).every((count) => count > 0);
      await scene.until(allStore, 'every worker stores records');
      await ratesAreRight();
      await isCalm(6);
      // those go that were there first
      for (const ending of [...workers.slice(0, -1), api]) await stop(scene, ending);
      await shows(1, 1);
      await ratesAreRight();
      await isCalm(2);
    },
  ),
];
