/** As root, Postgres runs as another user. Files for that user are created here, where it can reach them. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Advice } from './advice.ts';
import { dataRoot, root } from './paths.ts';

export interface ServiceUser {
  name: string;
  uid: number;
  gid: number;
}

/** The user that Postgres runs as; undefined: our own. */
export function serviceUser(): ServiceUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const entries = fs.readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = entries.find((entry) => entry.startsWith(`${name}:`))?.split(':') ?? [];
    if (Number(uid) > 0) return { name, uid: Number(uid), gid: Number(gid) };
  }
  throw new Advice('Postgres does not run as root, and there is no user "postgres" or "nobody".');
}

/** Asks the kernel as that user, since only the kernel knows access lists and mount options. */
export function canUse(user: ServiceUser, file: string): boolean {
  const { uid, gid } = user;
  return spawnSync('/bin/sh', ['-c', 'test -x "$1"', 'sh', file], { uid, gid, cwd: '/' }).status === 0;
}

/**
 * A folder that only this user can enter. It is elsewhere if a parent folder is closed to the user; `removeFolder` finds it
 * there.
 */
export function reachableFolder(folder: string, user = serviceUser(), say: (line: string) => void = () => {}): string {
  fs.mkdirSync(path.dirname(folder), { recursive: true, mode: 0o711 });
  if (giveTo(user, folder)) return folder;
  const other = path.join(outside, nameOf(folder));
  fs.mkdirSync(other, { recursive: true, mode: 0o700 });
  fs.chmodSync(outside, 0o711);
  if (!giveTo(user, other)) throw new Advice(`User ${user?.name} can reach neither ${folder} nor ${other}.`);
  say(`user ${user?.name} cannot reach ${folder}: using ${other}`);
  return other;
}

/** Writes a file atomically that only its user can read: that user in such a folder, or our own. */
export function writeFor(user: ServiceUser | undefined, file: string, content: string | Buffer): void {
  const unfinished = `${file}.${process.pid}`;
  fs.writeFileSync(unfinished, content, { mode: 0o600 });
  if (user) fs.chownSync(unfinished, user.uid, user.gid);
  fs.renameSync(unfinished, file);
}

/** Also removes what `reachableFolder` created elsewhere. */
export function removeFolder(folder: string): void {
  // a server that is stopping may still write
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  try {
    for (const name of fs.readdirSync(outside))
      if (`${name}-`.startsWith(`${nameOf(folder)}-`)) fs.rmSync(path.join(outside, name), { recursive: true });
    fs.rmdirSync(outside);
  } catch {
    // it does not exist, or others use it
  }
}

function giveTo(user: ServiceUser | undefined, folder: string): boolean {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (user) fs.chownSync(folder, user.uid, user.gid);
  return user === undefined || canUse(user, folder);
}

/** For this checkout, where only root creates folders. */
const outside = `/var/lib/assent-${digest(root)}`;

function nameOf(folder: string): string {
  const inside = path.relative(dataRoot, folder);
  return inside.startsWith('..') ? digest(folder) : inside.replaceAll(path.sep, '-');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
