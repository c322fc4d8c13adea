/** Memory of a process, in bytes. */
import { readFileSync } from 'node:fs';

export const residentMemory = (pid: number): number => read(pid, 'VmRSS');

/** The most since the process began. */
export const peakMemory = (pid: number): number => read(pid, 'VmHWM');

/** proc_pid_status(5) */
function read(pid: number, field: string): number {
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1_024;
}
