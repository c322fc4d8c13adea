/** What a drill does to the processes of Postgres, and to its disk. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { runCommand } from '../stack/command.ts';
import type { ChaosStack } from './stack.ts';

/** The postmaster and all that it forked. */
export const serverPids = ({ postgres }: Pick<ChaosStack, 'postgres'>): number[] => {
  const { pid } = postgres.running();
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return [pid, ...stdout.trim().split(/\s+/).filter(Boolean).map(Number)];
};

/** Returns what makes room again. */
export async function fillDiskOf({ postgres, sql }: ChaosStack): Promise<() => Promise<void>> {
  const filler = path.join(path.dirname(postgres.running().dataDir), 'filler');
  await runCommand('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k'], { env: process.env });
  return async () => {
    rmSync(filler);
    // a Postgres that could not write its WAL ends itself
    await sql((connected) => connected`select 1`).catch(async () => {
      await postgres.running().stop();
      await postgres.start();
    });
  };
}

/** A file system of that size, for Postgres; undefined where this machine does not allow it. */
export function mountSmallDisk(size: string) {
  const mountPoint = mkdtempSync(path.join(os.tmpdir(), 'assent-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'tmpfs', mountPoint]);
  if (status !== 0) {
    rmdirSync(mountPoint);
    return undefined;
  }
  const postgresFolder = path.join(mountPoint, 'postgres');
  mkdirSync(postgresFolder);
  const undo = () => {
    spawnSync('umount', [mountPoint]);
    rmdirSync(mountPoint);
  };
  return { postgresFolder, undo };
}
