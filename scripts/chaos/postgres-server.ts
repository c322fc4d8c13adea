/** The processes of Postgres. */
import { spawnSync } from 'node:child_process';
import type { ChaosStack } from './stack.ts';

/** The postmaster and all that it forked. */
export const serverPids = ({ postgres }: Pick<ChaosStack, 'postgres'>): number[] => {
  const { pid } = postgres.running();
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return [pid, ...stdout.trim().split(/\s+/).filter(Boolean).map(Number)];
};
