/** A drill: a fault under load, its end, quiet, and a check of the promises. A breach keeps the processes' logs. */
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildBefore } from '../release/check.ts';
import { describe } from '../stack/advice.ts';
import { dataRoot } from '../stack/paths.ts';
import { checkPromises, type Verdict } from './check.ts';
import { watchCurrent } from './current.ts';
import { untilQuiet } from './quiet.ts';
import { createScene, type Scene } from './scene.ts';
import { type ChaosStack, startChaosStack, type Wishes } from './stack.ts';

export interface Drill extends Wishes {
  name: string;
  about: string;
  /** CI runs it. */
  quick?: true;
  /** It uses the whole machine, so nothing runs beside it. */
  alone?: true;
  /** The stack begins with the release before this one. */
  upgrade?: true;
  /** decisions a second */
  rate?: number;
  /** acknowledged records */
  mayLose?: number;
  /** Every single attempt has to be acknowledged. */
  allAcknowledged?: true;
  /** records that Postgres has to reject */
  rejected?: number;
  /** The time to recover counts from its end. */
  run: (scene: Scene) => Promise<void>;
}

export interface Report {
  verdict?: Verdict;
  secondsToRecover?: number;
  breaches: string[];
}

/** Seconds: a worker's lock expires after 10, and another worker looks for such jobs every 3. */
const mayRecoverFor = 45;

/** Rejects when `signal` aborts, after the drill's stack is down. */
export async function perform(drill: Drill, dist: string, signal: AbortSignal): Promise<Report> {
  const before = drill.upgrade && (await buildBefore(signal));
  const stack = await startChaosStack({ ...drill, dist, before });
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    if (signal.aborted) reject(signal.reason);
  });
  try {
    const report = await Promise.race([performOn(stack, drill, signal), interrupted]);
    if (report.breaches.length > 0) keepLogs(stack, drill.name);
    return report;
  } finally {
    await stack.stop();
  }
}

/** Keeps the output of our processes and of the stores, to find the cause of a breach. */
function keepLogs(stack: ChaosStack, name: string): void {
  const folder = path.join(dataRoot, 'chaos-logs');
  mkdirSync(folder, { recursive: true });
  for (const [index, { lines, process }] of stack.processes.entries()) {
    const end = process.running() ? 'still running' : 'ended';
    writeFileSync(path.join(folder, `${name}-${index}.log`), [...lines, end, ''].join('\n'));
  }
  for (const store of ['postgres', 'redis'] as const) {
    const { logFile } = stack[store].running();
    if (existsSync(logFile)) copyFileSync(logFile, path.join(folder, `${name}-${store}.log`));
  }
  console.log(`the logs of ${name} are in ${folder}/${name}-*.log`);
}

async function secondsOf(work: Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work;
  return (performance.now() - started) / 1_000;
}

async function performOn(stack: ChaosStack, drill: Drill, signal: AbortSignal): Promise<Report> {
  const scene = createScene(stack, signal, drill.rate);
  scene.alongside(watchCurrent(scene));
  try {
    await drill.run(scene);
    const untilFlowing = await secondsOf(scene.load.acknowledged(200));
    // an export that is under way does not count
    const ending = await secondsOf(scene.end());
    const untilQuietAgain = await secondsOf(untilQuiet(stack));
    const secondsToRecover = untilFlowing + untilQuietAgain;
    const verdict = await checkPromises(scene, drill);
    for (const check of scene.checks) await check();
    const failed = verdict.attempts - verdict.acknowledged;
    scene.expect(failed === 0 || !drill.allAcknowledged, `${failed} attempts were not acknowledged`);
    const how = `${untilFlowing.toFixed(0)} until records flowed, ${untilQuietAgain.toFixed(0)} until all was quiet`;
    scene.expect(
      secondsToRecover <= mayRecoverFor,
      `I5: it took ${secondsToRecover.toFixed(0)} s to recover: ${how}, and between them ${ending.toFixed(0)} for what went on beside`,
    );
    return { verdict, secondsToRecover, breaches: [...scene.found, ...verdict.breaches] };
  } catch (error) {
    return { breaches: [...scene.found, describe(error)] };
  } finally {
    scene.abandon();
    await scene.checkpoints.stop();
  }
}
