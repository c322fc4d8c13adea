/** Somebody who looks at all processes' metrics: an age or a count below zero would keep its alert silent. */
import type { Activity, Scene } from '../scene.ts';

/** Which process' clock is ahead is told by a sign. */
const signed = /skew/;

export function watchGauges(scene: Scene): Activity {
  let looks = 0;
  const seen = new Set<string>();
  const look = async (app: string, opsUrl: string): Promise<void> => {
    const response = await fetch(`${opsUrl}/metrics`, { signal: AbortSignal.timeout(5_000) });
    const text = await response.text();
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
