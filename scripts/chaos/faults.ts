/** Faults. Each is begun, and returns what ends it. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { maxmemory } from '../stack/redis.ts';
import type { Restartable } from '../stack/server.ts';
import { runCommand } from '../stack/tether.ts';
import { hold, type Scene } from './scene.ts';

export type End = () => Promise<unknown> | unknown;
export type Store = 'postgres' | 'redis';

/** A server and all that it forked. */
function signal(pids: number[], what: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, what);
    } catch {
      // a backend has ended meanwhile
    }
  }
}

const familyOf = ({ pid }: { pid: number }): number[] => {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return [pid, ...stdout.trim().split(/\s+/).filter(Boolean).map(Number)];
};

/** It stops responding, and comes back with all its connections. */
export function freeze(server: Restartable): End {
  const pids = familyOf(server.running());
  signal(pids, 'SIGSTOP');
  return () => signal(pids, 'SIGCONT');
}

export async function kill(server: Restartable): Promise<End> {
  signal(familyOf(server.running()), 'SIGKILL');
  await server.running().exited;
  return () => untilStarted(server.start);
}

/** What a killed Postgres shared takes a moment to be gone, and a process of ours needs a store to start. */
export async function untilStarted<Started>(start: () => Promise<Started>): Promise<Started> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (error) {
      if (attempt === 40) throw error;
      await hold(0.5);
    }
  }
}

export async function restart(server: Restartable): Promise<End> {
  await server.running().stop();
  return () => untilStarted(server.start);
}

/** Where the store has no small disk, it is killed instead: that is what a full disk leads to in the end. */
export async function fillDisk(scene: Scene, store: Store): Promise<End> {
  const server = scene[store];
  if (!scene.hasSmallDisk[store]) return kill(server);
  const filler = path.join(path.dirname(server.running().dataDir), 'filler');
  await runCommand('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k'], { env: process.env });
  const responses = async () => {
    if (store === 'postgres') await scene.count((sql) => sql`select 1 as n`);
    else await scene.redisDo((redis) => redis.ping());
  };
  return async () => {
    rmSync(filler);
    // what could not write ends itself
    await responses().catch(async () => {
      await server.running().stop();
      await untilStarted(server.start);
    });
  };
}

/** Sets Redis' `maxmemory` to that share of what is in use; below 1 the next write does not fit. */
export async function fillRedis({ redisDo }: Scene, share: number): Promise<End> {
  const setMemory = (bytes: string) => redisDo((redis) => redis.config('SET', 'maxmemory', bytes));
  const used = /used_memory:(\d+)/.exec(await redisDo((redis) => redis.info('memory')))?.[1];
  await setMemory(String(Math.floor(Number(used) * share)));
  return () => setMemory(maxmemory);
}

/** Redis becomes a read-only replica, and a master again. */
export async function makeReadOnly({ redisDo }: Scene): Promise<End> {
  await redisDo((redis) => redis.replicaof('127.0.0.1', 1));
  return () => redisDo((redis) => redis.replicaof('NO', 'ONE'));
}

/** Keeps everybody from changing the table, or from reading it too. */
export const lockTable = (scene: Scene, table: string, mode: 'exclusive' | 'access exclusive' = 'exclusive') =>
  new Promise<() => Promise<void>>((resolve, reject) => {
    const transaction = scene.sql((sql) =>
      sql.begin(async (locking) => {
        await locking`lock table ${locking(table)} in ${locking.unsafe(mode)} mode`;
        await new Promise<void>((release) => {
          resolve(async () => {
            release();
            await transaction;
          });
        });
      }),
    );
    transaction.catch(reject);
  });

export async function setOnPrimary(scene: Scene, name: string, value: string): Promise<void> {
  await scene.sql((sql) => sql.unsafe(`alter system set ${name} = '${value}'`));
  await scene.sql((sql) => sql`select pg_reload_conf()`);
}

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
