/** A server that a killed run left behind, perhaps still shutting down: two in one folder would destroy what is in it. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { waitUntil } from './wait.ts';

/** The number on the first line of a file, such as a pid; undefined without one that makes sense. */
export function readNumber(file: string): number | undefined {
  const number = existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : 0;
  return number > 1 ? number : undefined;
}

/** How a process was started, '' when there is none: a pid alone may long belong to another program. */
export function commandLine(pid: number): string {
  if (existsSync('/proc/self/cmdline')) {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return '';
    }
  }
  return spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
}

/** Ends the process if it was started with that argument (its folder). */
export async function endLeftover(pid: number, argument: string, signal: NodeJS.Signals): Promise<void> {
  const isThere = () => commandLine(pid).includes(argument);
  for (const attempt of [signal, 'SIGKILL'] as const) {
    if (!isThere()) return;
    try {
      process.kill(pid, attempt);
    } catch {
      // It ended in this moment, or belongs to another user, which the wait tells.
    }
    if (await waitUntil(() => !isThere(), { deadlineMs: 10_000 })) return;
  }
  throw new Error(`process ${pid}, left by an earlier run in ${argument}, does not end`);
}
