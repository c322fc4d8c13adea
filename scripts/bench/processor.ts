/** The processor's time that processes take, as Linux tells it. */
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** what Linux counts in */
const ticksPerSecond = 100;

/** Microseconds of the processors that a second has. */
export const available = availableParallelism() * 1_000_000;

/** Microseconds that a process and its children have taken, also those that have ended. */
export function processorTime(pid: number): number {
  const own = read(pid);
  const children = readdirSync('/proc').flatMap((entry) => {
    const child = /^\d+$/.test(entry) ? read(Number(entry)) : undefined;
    return child?.parent === pid ? [child.ticks] : [];
  });
  const ticks = children.reduce((sum, each) => sum + each, (own?.ticks ?? 0) + (own?.endedChildren ?? 0));
  return (ticks * 1_000_000) / ticksPerSecond;
}

/** proc_pid_stat(5); undefined for a process that has ended. */
function read(pid: number): { parent: number; ticks: number; endedChildren: number } | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // the name before it may hold anything
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (number: number) => Number(fields[number - 3]);
  return { parent: field(4), ticks: field(14) + field(15), endedChildren: field(16) + field(17) };
}
