/** A small disk for a store, which is filled. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

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
