/** Programs of the machine, or else private copies of them, unpacked into `.data/packages`. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { takeLock } from '../lock.mjs';
import { Advice, describe } from './advice.ts';
import { isDebianLike, libraryPath, type Packages, packageFolder, unpackDebian } from './debian.ts';
import { ensureDataRoot } from './paths.ts';
import { waitUntil } from './wait.ts';

export interface Program {
  binary: string;
  /** what to start it with, so that it finds its libraries */
  env: NodeJS.ProcessEnv;
  /** where its packages are unpacked, if they are */
  folder?: string;
}

interface Wanted {
  names: string[];
  packages: Packages;
  /** the program's path in the unpacked packages */
  inPackage: string;
  advice: string;
  say?: (line: string) => void;
  signal?: AbortSignal | undefined;
}

export const findRedis = (options: Pick<Wanted, 'say' | 'signal'> = {}): Promise<Program> =>
  findProgram({
    ...options,
    names: ['redis-server', 'valkey-server'],
    packages: ['redis-server'],
    inPackage: 'usr/bin/redis-server',
    advice: 'Redis is missing: install redis-server (or valkey-server), or set REDIS_URL.',
  });

export async function findProgram({ names, inPackage, ...wanted }: Wanted): Promise<Program> {
  const own = names.flatMap(onMachine).map((binary) => ({ binary, env: process.env }));
  const found = own.find(runs);
  if (found) return found;
  const folder = packageFolder(wanted.packages);
  if (!existsSync(folder)) await unpack(folder, wanted);
  const libraries = [libraryPath(folder), process.env.LD_LIBRARY_PATH].filter(Boolean).join(path.delimiter);
  const program = { binary: path.join(folder, inPackage), env: { ...process.env, LD_LIBRARY_PATH: libraries }, folder };
  if (!runs(program)) throw new Advice(`${wanted.advice} The copy in ${folder} does not run here: remove it.`);
  return program;
}

async function unpack(folder: string, wanted: Omit<Wanted, 'names' | 'inPackage'>): Promise<void> {
  const { packages, advice, say = () => {}, signal } = wanted;
  if (!isDebianLike()) throw new Advice(advice);
  const lock = path.join(ensureDataRoot(), `${packages[0]}-lock`);
  let release: ReturnType<typeof takeLock>;
  const takeTurn = () => {
    release = takeLock(lock);
    return release !== undefined;
  };
  // two test files that begin together would fetch the same hundred megabytes
  await waitUntil(takeTurn, { deadlineMs: Number.POSITIVE_INFINITY, intervalMs: 200, signal });
  try {
    if (existsSync(folder)) return;
    say(`no ${packages[0]} here: unpacking Debian's package into .data (once)`);
    await unpackDebian(packages, signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw new Advice(`${advice} Debian's package could not be unpacked: ${describe(error)}`);
  } finally {
    release?.();
  }
}

function onMachine(name: string): string[] {
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  // servers are often where only root's PATH leads
  const all = [...folders, '/usr/local/bin', '/usr/local/sbin', '/usr/bin', '/usr/sbin', '/opt/homebrew/bin'];
  return [...new Set(all)].map((folder) => path.join(folder, name)).filter((file) => existsSync(file));
}

const runs = ({ binary, env }: Program): boolean =>
  spawnSync(binary, ['--version'], { env, stdio: 'ignore', timeout: 30_000 }).status === 0;
