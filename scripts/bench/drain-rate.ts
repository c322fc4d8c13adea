/** Records a second that workers take from a backlog: from the tenth of it, when they are warm, to its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Design, untilEmpty } from './designs.ts';

const patience = 120_000;

export async function drainRate(
  design: Design,
  { records, perJob, workers = 1 }: { records: number; perJob: number; workers?: number },
): Promise<number> {
  await design.addBacklog(records, perJob);
  const before = await design.stored();
  const started = performance.now();
  const running = await Promise.all(Array.from({ length: workers }, () => design.startWorker()));
  let first: { at: number; stored: number } | undefined;
  let now = 0;
  let stored = 0;
  while (stored < records) {
    await sleep(20);
    stored = (await design.stored()) - before;
    now = performance.now();
    if (!first && stored >= records / 10) first = { at: now, stored };
    if (now - started > patience) throw new Error(`${records - stored} records are not stored after ${patience} ms`);
  }
  await untilEmpty(design);
  await Promise.all(running.map((worker) => worker.stop()));
  if (!first || first.stored === stored) throw new Error('the backlog was gone before it could be timed');
  return ((stored - first.stored) / (now - first.at)) * 1_000;
}
