// Lets one process run at a time, with a lock that frees itself when its owner is gone. Plain JavaScript, since it also
// guards the installation of everything else. The lock is a folder with one file, named after its owner. Moving a prepared
// folder into place either takes the lock together with the owner's name, or fails. A dead owner's file is removed by its
// name, so of two processes that find it dead neither removes the other's. An empty folder can be replaced.
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Takes the lock and returns a function that releases it; undefined while a living process holds it. */
export function takeLock(folder) {
  const name = `${process.pid}.${startTime(process.pid)}`;
  const ours = `${folder}-${process.pid}`;
  fs.rmSync(ours, { recursive: true, force: true });
  fs.mkdirSync(ours, { recursive: true });
  fs.writeFileSync(path.join(ours, name), '');
  // the owner may release it meanwhile
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

/** Takes the lock as soon as it is free. `say` is called once if it has to wait. */
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

/**
 * When the process started, since a later one may have the same id (in a container after every restart); '' if it is dead.
 */
function startTime(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    // the second field is the program's name in brackets, which may contain anything
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? '' : rest[18];
  } catch {
    return '';
  }
}

/** Whether it succeeded; an error with one of the codes means no. */
function ignoring(codes, action) {
  try {
    action();
    return true;
  } catch (error) {
    if (!codes.includes(error.code)) throw error;
    return false;
  }
}
