/** What a process and its children hold. A process that ends meanwhile holds nothing. */
import { readdirSync, readFileSync } from 'node:fs';

/** Bytes of memory; pages that several processes share are shared out among them. */
export const memoryOf = (pid: number): number => sumOver(pid, proportional);

/** Open files and sockets. */
export const handlesOf = (pid: number): number => sumOver(pid, (each) => readdirSync(`/proc/${each}/fd`).length);

function sumOver(pid: number, read: (pid: number) => number): number {
  let sum = 0;
  for (const each of [pid, ...childrenOf(pid)]) {
    try {
      sum += read(each);
    } catch {
      // it has ended
    }
  }
  return sum;
}

/** `Pss` of proc_pid_smaps(5), in bytes */
function proportional(pid: number): number {
  const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
  return Number(kilobytes) * 1_024;
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
