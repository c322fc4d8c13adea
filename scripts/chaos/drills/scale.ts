/** More processes, and fewer again. */
import type { AssentProcess } from '../../stack/assent-process.ts';
import { type Drill, drill, type Scene } from '../drill.ts';

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
  drill('scale', 'workers 1 → 4 → 1 and API processes 1 → 2 → 1 under load: no request fails', async (scene) => {
    scene.allowed.failures = false;
    const { api, worker } = await scene.begin();
    const workers = [worker, ...(await Promise.all([scene.worker(), scene.worker(), scene.worker()]))];
    await scene.api();
    const allStore = async () => (await Promise.all(workers.map(countStoredBy))).every((count) => count > 0);
    await scene.until(allStore, 'every worker stores records');
    await scene.load.acknowledged(500);
    // those go that were there first
    for (const ending of [...workers.slice(0, -1), api]) await stop(scene, ending);
  }),
];
