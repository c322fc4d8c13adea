/** A small disk for a store, which a drill fills. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { runCommand } from '../stack/command.ts';

/** A file system of that size with an empty folder in it; undefined where this machine does not allow it. */
export function mountSmallDisk(size: string): { folder: string; undo: () => void } | undefined {
  const mountPoint = mkdtempSync(path.join(os.tmpdir(), 'assent-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'tmpfs', mountPoint]);
  if (status !== 0) {
    rmdirSync(mountPoint);
    return undefined;
  }
  const folder = path.join(mountPoint, 'store');
  mkdirSync(folder);
  const undo = () => {
    spawnSync('umount', [mountPoint]);
    rmdirSync(mountPoint);
  };
  return { folder, undo };
}

interface Server {
  running(): { dataDir: string; stop(): Promise<unknown> };
  start(): Promise<void>;
}

/** Fills the disk of a server that is in the folder of a small disk. Returns what makes room, and starts the server again unless it works. */
export async function fillDiskOf(server: Server, works: () => Promise<unknown>): Promise<() => Promise<void>> {
  const filler = path.join(path.dirname(server.running().dataDir), 'filler');
  await runCommand('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k'], { env: process.env });
  return async () => {
    rmSync(filler);
    // what could not write ends itself
    await works().catch(async () => {
      await server.running().stop();
      await server.start();
    });
  };
}
