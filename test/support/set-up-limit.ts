/** Limits to set-ups, of which vitest has none: what stands at the top of a file, and what runs before all files. */
import { writeSync } from 'node:fs';

let timer: NodeJS.Timeout | undefined;

/** Unless `endLimit` comes within five minutes, this vitest worker ends, and the run is red; others take its next files. */
export function limitSetUp(file: string): void {
  // one whose tests are all left out never comes to its first
  endLimit();
  const hangs = () => {
    // vitest would not hear of an exit, nor print what is still to be written
    writeSync(2, `${file}: what stands before its tests has not ended within five minutes\n`);
    process.kill(process.pid, 'SIGKILL');
  };
  timer = setTimeout(hangs, 300_000).unref();
}

export const endLimit = (): void => clearTimeout(timer);

/** Steps by name; `tooLate` gets those that have not ended after `patience` milliseconds. */
export function limitSteps(patience: number, tooLate: (names: string[]) => void) {
  const open = new Set<string>();
  const timer = setTimeout(() => tooLate([...open]), patience);
  return {
    step: <T>(name: string, work: Promise<T>): Promise<T> => {
      open.add(name);
      return work.finally(() => open.delete(name));
    },
    end: () => clearTimeout(timer),
  };
}
