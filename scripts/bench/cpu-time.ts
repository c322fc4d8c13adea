/** CPU time of processes, from /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** Microseconds of a process and its children, including those that have ended. */
export function cpuTime(pid: number): number {
  const own = read(pid);
  const children = readdirSync('/proc').flatMap((entry) => {
    const child = /^\d+$/.test(entry) ? read(Number(entry)) : undefined;
    return child?.parent === pid ? [child.ticks] : [];
  });
  const ticks = children.reduce((sum, each) => sum + each, (own?.ticks ?? 0) + (own?.endedChildren ?? 0));
  // a tick is a hundredth of a second
  return ticks * 10_000;
}

/** proc_pid_stat(5); undefined for a process that has ended. */
function read(pid: number): { parent: number; ticks: number; endedChildren: number } | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // the program's name before it may hold anything
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (number: number) => Number(fields[number - 3]);
  return { parent: field(4), ticks: field(14) + field(15), endedChildren: field(16) + field(17) };
}
