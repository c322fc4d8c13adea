/** Postgres refuses to run as root: as root, it gets another user, and folders which that user can reach. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Advice } from './advice.ts';
import { dataRoot, root } from './paths.ts';

export interface ServiceUser {
  name: string;
  uid: number;
  gid: number;
}

/** Whom Postgres runs as; undefined: as ourselves. */
export function serviceUser(): ServiceUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const entries = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = entries.find((entry) => entry.startsWith(`${name}:`))?.split(':') ?? [];
    if (Number(uid) > 0) return { name, uid: Number(uid), gid: Number(gid) };
  }
  throw new Advice('Postgres does not run as root, and there is no user "postgres" or "nobody".');
}

/** Asks the kernel as that user, since only it knows about access lists and mount options. */
export function canUse(user: ServiceUser, file: string): boolean {
  const { uid, gid } = user;
  return spawnSync('/bin/sh', ['-c', 'test -x "$1"', 'sh', file], { uid, gid, cwd: '/' }).status === 0;
}

/** Makes the folder and gives it to the user; where a closed folder above it is in the way, one elsewhere. */
export function reachableFolder(folder: string, user: ServiceUser | undefined, say: (line: string) => void): string {
  mkdirSync(path.dirname(folder), { recursive: true, mode: 0o711 });
  if (giveTo(user, folder)) return folder;
  const inside = path.relative(dataRoot, folder);
  const name = inside.startsWith('..') ? digest(folder) : inside.replaceAll(path.sep, '-');
  const other = path.join(outsideRoot(), name);
  if (!giveTo(user, other)) throw new Advice(`User ${user?.name} can reach neither ${folder} nor ${other}.`);
  say(`user ${user?.name} cannot reach ${folder}: using ${other}`);
  return other;
}

function giveTo(user: ServiceUser | undefined, folder: string): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (user) chownSync(folder, user.uid, user.gid);
  return user === undefined || canUse(user, folder);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/** A folder of this checkout's own, outside it. */
function outsideRoot(): string {
  const name = `assent-${digest(root)}`;
  for (const parent of ['/var/lib', os.tmpdir()]) {
    const folder = path.join(parent, name);
    try {
      mkdirSync(folder, { mode: 0o711 });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) continue;
    }
    // The name can be guessed: a folder that someone else put there is not used.
    const found = lstatSync(folder);
    if (found.isDirectory() && found.uid === process.getuid?.()) return folder;
  }
  throw new Advice(`Neither /var/lib nor ${os.tmpdir()} can take a folder ${name}.`);
}
