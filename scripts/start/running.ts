/** What has been started, and how it is taken down again: in the reverse order. */
import { say } from './progress.ts';

export interface Part {
  exited: Promise<unknown>;
  stop(): Promise<unknown>;
  /** At once, for an impatient user. */
  kill(): void;
}

export interface Running {
  /** `lost` is said when the part ends before it is stopped. */
  add(part: Part, lost?: string): void;
  stopAll(): Promise<void>;
  killAll(): void;
}

export function createRunning(): Running {
  const parts: Part[] = [];
  let stopping = false;
  return {
    add: (part, lost) => {
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
