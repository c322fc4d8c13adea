/** What goes on beside the faults, again and again. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Scene } from '../drill.ts';

export interface Going {
  /** Resolves once nothing of it is under way. */
  end(): Promise<void>;
  /** Once all is quiet: compares what it has seen with what is stored. */
  check(): Promise<void>;
}

/** Runs `work`, one run after the other with `pause` milliseconds between them. Returns what ends it after the present run. */
export function startLoop(scene: Scene, pause: number, work: () => Promise<void>): () => Promise<void> {
  let isOver = false;
  const run = async (): Promise<void> => {
    while (!isOver && !scene.signal.aborted) {
      await work().catch((error: unknown) => scene.expect(false, `beside the faults: ${error}`));
      await sleep(pause);
    }
  };
  const running = run();
  return () => {
    isOver = true;
    return running;
  };
}
