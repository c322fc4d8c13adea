/** Programs of the machine, or else Debian's, unpacked into `.data/packages` without root; nothing is installed. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { Advice, describe } from './advice.ts';
import { ensureDataRoot, makeOnce, root } from './paths.ts';
import { outputOf } from './tether.ts';

export interface Program {
  binary: string;
  /** what to start it with, so that it finds its libraries */
  env: NodeJS.ProcessEnv;
  /** where its packages are unpacked, if they are */
  folder?: string;
}

interface Wanted {
  names: [string, ...string[]];
  /** The first names the folder; the others come along. Default: the program's first name. */
  packages?: readonly [string, ...string[]];
  /** the program's path in the unpacked packages, if not in `usr/bin` */
  inPackage?: string;
  /** the argument with which it says its version, to see that it runs */
  version?: string;
  advice?: string;
  say?: ((line: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

export const findRedis = (options: Pick<Wanted, 'say' | 'signal'> = {}): Promise<Program> =>
  findProgram({
    ...options,
    names: ['redis-server', 'valkey-server'],
    advice: 'Redis is missing: install redis-server (or valkey-server), or set REDIS_URL.',
  });

export const findOpenssl = (): Promise<Program> => findProgram({ names: ['openssl'], version: 'version' });

export const findCaddy = (): Promise<Program> => findProgram({ names: ['caddy'], version: 'version' });

export async function findProgram(wanted: Wanted): Promise<Program> {
  const { names, packages = [names[0]], version = '--version', say = () => {}, signal } = wanted;
  const { advice = `${names[0]} is missing: install it.`, inPackage = `usr/bin/${names[0]}` } = wanted;
  const runs = ({ binary, env }: Program): boolean =>
    spawnSync(binary, [version], { env, stdio: 'ignore', timeout: 30_000 }).status === 0;
  const own = names.flatMap(onMachine).map((binary) => ({ binary, env: process.env }));
  const found = own.find(runs);
  if (found) return found;
  const folder = await unpackPackages(packages, { advice, say, signal });
  const libraries = [...libraryFolders(folder), process.env.LD_LIBRARY_PATH].filter(Boolean).join(path.delimiter);
  const program = { binary: path.join(folder, inPackage), env: { ...process.env, LD_LIBRARY_PATH: libraries }, folder };
  if (!runs(program)) throw new Advice(`${advice} The copy in ${folder} does not run here: remove it.`);
  return program;
}

/** The folder that Debian's packages are unpacked into, such as those that hold no program. */
export async function unpackPackages(
  packages: readonly [string, ...string[]],
  { advice = `${packages[0]} is missing.`, say = () => {}, signal }: Pick<Wanted, 'advice' | 'say' | 'signal'> = {},
): Promise<string> {
  const folder = path.join(ensureDataRoot(), 'packages', packages[0]);
  if (existsSync(folder)) return folder;
  const tools = ['/usr/bin/apt-get', '/usr/bin/dpkg-deb', '/var/lib/dpkg/status'];
  if (!tools.every((file) => existsSync(file))) throw new Advice(advice);
  say(`no ${packages[0]} here: unpacking Debian's package into .data (once)`);
  const unpack = async (work: string) => {
    const env = { ...process.env, LC_ALL: 'C' };
    await outputOf('/bin/sh', ['-e', path.join(root, 'scripts/stack/unpack.sh'), ...packages], {
      cwd: work,
      env,
      signal,
    });
    return path.join(work, 'unpacked');
  };
  // two test files that begin together would fetch the same hundred megabytes
  return makeOnce(folder, unpack, signal).catch((error) => {
    signal?.throwIfAborted();
    throw new Advice(`${advice} Debian's package could not be unpacked: ${describe(error)}`);
  });
}

/** Where a program of that name is, of the PATH first. */
export function onMachine(name: string): string[] {
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  // servers are often where only root's PATH leads
  const all = [...folders, '/usr/local/bin', '/usr/local/sbin', '/usr/bin', '/usr/sbin'];
  return [...new Set(all)].map((folder) => path.join(folder, name)).filter((file) => existsSync(file));
}

/** The folders below that hold shared libraries. */
function libraryFolders(folder: string): Set<string> {
  const starts = ['lib', 'usr/lib'].map((name) => path.join(folder, name)).filter((start) => existsSync(start));
  const entries = starts.flatMap((start) => readdirSync(start, { recursive: true, withFileTypes: true }));
  return new Set(entries.filter(({ name }) => /\.so(\.|$)/.test(name)).map(({ parentPath }) => parentPath));
}
