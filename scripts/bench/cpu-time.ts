import { readdirSync, readFileSync } from 'node:fs';

/** Microseconds of CPU time of a process and its children, including those that have ended. */
export function cpuTime(pid: number): number {
  const { ticks = 0, ofEnded = 0 } = read(pid) ?? {};
  const processes = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  const children = processes.map((entry) => read(Number(entry))).filter((each) => each?.parent === pid);
  // a tick is a hundredth of a second
  return children.reduce((sum, child) => sum + (child?.ticks ?? 0), ticks + ofEnded) * 10_000;
}

/** proc_pid_stat(5); undefined for a process that has ended. */
function read(pid: number): { parent: number; ticks: number; ofEnded: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // the program's name before it may hold anything
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const field = (number: number) => Number(fields[number - 3]);
    return { parent: field(4), ticks: field(14) + field(15), ofEnded: field(16) + field(17) };
  } catch {
    return undefined;
  }
}
