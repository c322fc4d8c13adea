/** What has been started, and how it is taken down again: in the reverse order. */

interface Part {
  exited: Promise<unknown>;
  stop(): Promise<unknown>;
  /** at once, for an impatient user */
  kill(): void;
}

export type Running = ReturnType<typeof createRunning>;

export function createRunning() {
  const parts: Part[] = [];
  let stopping = false;
  return {
    /** `lost` is said when the part ends before it is stopped. */
    add: (part: Part, lost?: string) => {
      parts.unshift(part);
      if (lost !== undefined) void part.exited.then(() => stopping || say(lost));
    },
    stopAll: async () => {
      stopping = true;
      for (const part of parts) await part.stop();
    },
    killAll: () => {
      for (const part of parts) part.kill();
    },
  };
}

export const say = (line: string): void => console.log(`  ${line}`);

/** One line per step, with the time it took. */
export async function step<T>(name: string, work: () => Promise<T>, detail: (result: T) => string = () => '') {
  const start = performance.now();
  const result = await work();
  const seconds = `${((performance.now() - start) / 1000).toFixed(1)} s`;
  say(`${name.padEnd(12)}${seconds.padStart(7)}  ${detail(result)}`.trimEnd());
  return result;
}
