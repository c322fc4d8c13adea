// One process at a time: a lock that frees itself when its owner is gone. Plain JavaScript, since it also guards the
// installation of all that could run anything else.
//
// The lock is a folder that holds one file, named after its owner. Moving a ready-made folder into place either takes
// the lock with the owner's name already in it, or fails. A dead owner's file is removed by its own name, so that of two
// who find it dead neither can remove the other's; an empty folder is free to be moved upon.
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Takes the lock and gives back what releases it, or undefined while a living process holds it. */
export function takeLock(folder) {
  const name = `${process.pid}.${startTime(process.pid)}`;
  const ours = `${folder}-${process.pid}`;
  fs.rmSync(ours, { recursive: true, force: true });
  fs.mkdirSync(ours, { recursive: true });
  fs.writeFileSync(path.join(ours, name), '');
  // whoever has it may give it back meanwhile
  ignoring(['ENOENT'], () => {
    for (const owner of fs.readdirSync(folder))
      if (!isAlive(owner)) ignoring(['ENOENT'], () => fs.unlinkSync(path.join(folder, owner)));
  });
  const taken = ignoring(['ENOTEMPTY', 'EEXIST'], () => fs.renameSync(ours, folder));
  fs.rmSync(ours, { recursive: true, force: true });
  if (!taken) return undefined;
  return () => {
    ignoring(['ENOENT'], () => fs.unlinkSync(path.join(folder, name)));
    ignoring(['ENOENT', 'ENOTEMPTY', 'EEXIST'], () => fs.rmdirSync(folder));
  };
}

/** Takes the lock as soon as it is free. `say` is called once where it has to wait. */
export async function waitForLock(folder, { say = () => {}, signal } = {}) {
  for (let waited = false; ; waited = true) {
    signal?.throwIfAborted();
    const release = takeLock(folder);
    if (release !== undefined) return release;
    if (!waited) say();
    await sleep(200);
  }
}

function isAlive(owner) {
  const [pid, started] = owner.split('.');
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if (error.code !== 'EPERM') return false;
  }
  return startTime(pid) === started;
}

/** Tells a process from a later one with the same number (in a container: after every restart); '' once it is dead. */
function startTime(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets, and may hold anything.
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? '' : rest[18];
  } catch {
    return '';
  }
}

/** Whether it was done; an error with one of the codes means no. */
function ignoring(codes, action) {
  try {
    action();
    return true;
  } catch (error) {
    if (!codes.includes(error.code)) throw error;
    return false;
  }
}
