/** What storing records takes: time, and CPU time of each process. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Figures } from './figures.ts';

export type Look = ReturnType<typeof look>;

/** `pids`: of the processes, by their names in the table. */
export const look = (stored: number, pids: Record<string, number>) => ({
  stored,
  at: performance.now(),
  used: Object.entries(pids).map(([process, pid]) => ({ process, time: cpuTime(pid) })),
});

/** What was stored from `first` to `last`: records a second, and the CPU time that each took. */
export const figuresBetween = (name: string, first: Look, last: Look): Figures => figuresOver(name, [[first, last]]);

/** The same over several spans of time. */
export function figuresOver(name: string, spans: [first: Look, last: Look][]): Figures {
  const sum = (of: (look: Look) => number) => spans.reduce((sum, [first, last]) => sum + of(last) - of(first), 0);
  const stored = sum((each) => each.stored);
  const used = spans[0]?.[0].used ?? [];
  return {
    [name]: { value: (stored / sum(({ at }) => at)) * 1_000, unit: 'records/s' },
    ...Object.fromEntries(
      used.map(({ process }, at) => {
        const value = sum((each) => each.used[at]?.time ?? 0) / stored;
        return [`${name}: ${process}`, { value, unit: 'µs CPU' }];
      }),
    ),
  };
}

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
