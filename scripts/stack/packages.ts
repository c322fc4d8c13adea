/**
 * Programs of the machine, or else Debian's, without installing them: resolved and fetched by apt with state of its own,
 * unpacked into `.data/packages`. Nothing of the system changes, no service starts, and no root is needed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { waitForLock } from '../lock.mjs';
import { Advice, describe } from './advice.ts';
import { outputOf } from './command.ts';
import { dataRoot, ensureDataRoot, publish } from './paths.ts';

export interface Program {
  binary: string;
  /** what to start it with, so that it finds its libraries */
  env: NodeJS.ProcessEnv;
  /** where its packages are unpacked, if they are */
  folder?: string;
}

interface Wanted {
  names: string[];
  /** The first names the folder; the others come along. */
  packages: readonly [string, ...string[]];
  /** the program's path in the unpacked packages */
  inPackage: string;
  /** the argument with which it says its version, to see that it runs */
  version?: string;
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

export const findOpenssl = (): Promise<Program> =>
  findProgram({
    names: ['openssl'],
    packages: ['openssl'],
    inPackage: 'usr/bin/openssl',
    version: 'version',
    advice: 'openssl is missing: install it.',
  });

export const findCaddy = (): Promise<Program> =>
  findProgram({
    names: ['caddy'],
    packages: ['caddy'],
    inPackage: 'usr/bin/caddy',
    version: 'version',
    advice: 'Caddy is missing: install caddy.',
  });

export async function findProgram(wanted: Wanted): Promise<Program> {
  const { names, packages, inPackage, advice, version = '--version' } = wanted;
  const runs = ({ binary, env }: Program): boolean =>
    spawnSync(binary, [version], { env, stdio: 'ignore', timeout: 30_000 }).status === 0;
  const own = names.flatMap(onMachine).map((binary) => ({ binary, env: process.env }));
  const found = own.find(runs);
  if (found) return found;
  const folder = path.join(dataRoot, 'packages', packages[0]);
  if (!existsSync(folder)) await unpackOnce(folder, wanted);
  const libraries = [...libraryFolders(folder), process.env.LD_LIBRARY_PATH].filter(Boolean).join(path.delimiter);
  const program = { binary: path.join(folder, inPackage), env: { ...process.env, LD_LIBRARY_PATH: libraries }, folder };
  if (!runs(program)) throw new Advice(`${advice} The copy in ${folder} does not run here: remove it.`);
  return program;
}

function onMachine(name: string): string[] {
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  // servers are often where only root's PATH leads
  const all = [...folders, '/usr/local/bin', '/usr/local/sbin', '/usr/bin', '/usr/sbin', '/opt/homebrew/bin'];
  return [...new Set(all)].map((folder) => path.join(folder, name)).filter((file) => existsSync(file));
}

/** The folders below that hold shared libraries. */
function libraryFolders(folder: string): Set<string> {
  const starts = ['lib', 'usr/lib'].map((name) => path.join(folder, name)).filter((start) => existsSync(start));
  const entries = starts.flatMap((start) => readdirSync(start, { recursive: true, withFileTypes: true }));
  return new Set(entries.filter(({ name }) => /\.so(\.|$)/.test(name)).map(({ parentPath }) => parentPath));
}

async function unpackOnce(folder: string, { packages, advice, say = () => {}, signal }: Wanted): Promise<void> {
  const tools = ['/usr/bin/apt-get', '/usr/bin/dpkg-deb', '/var/lib/dpkg/status'];
  if (!tools.every((file) => existsSync(file))) throw new Advice(advice);
  // two test files that begin together would fetch the same hundred megabytes
  const release = await waitForLock(path.join(ensureDataRoot(), `${packages[0]}-lock`), { signal });
  const work = `${path.join(path.dirname(folder), `.${packages[0]}`)}-${process.pid}`;
  try {
    if (existsSync(folder)) return;
    say(`no ${packages[0]} here: unpacking Debian's package into .data (once)`);
    const unpacked = path.join(work, 'unpacked');
    for (const file of await fetchPackages(packages, work, signal)) {
      await outputOf('dpkg-deb', ['-x', file, unpacked], { signal });
    }
    publish(unpacked, folder);
  } catch (error) {
    signal?.throwIfAborted();
    throw new Advice(`${advice} Debian's package could not be unpacked: ${describe(error)}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
    release();
  }
}

/** The packages with everything they need that this system lacks. */
async function fetchPackages(packages: Wanted['packages'], work: string, signal: AbortSignal | undefined) {
  // The machine's lists save minutes on a slow line. They may be missing, or name files that the mirrors have dropped.
  const own = path.join(work, 'state/lists');
  let failure: unknown;
  for (const lists of ['/var/lib/apt/lists', own]) {
    rmSync(work, { recursive: true, force: true });
    const apt = aptGet(work, lists, signal);
    try {
      if (lists === own) await apt(['update']);
      const plan = await apt(['--simulate', '--no-install-recommends', 'install', ...packages]);
      const missing = [...plan.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name ?? '');
      if (missing.length === 0) throw new Error('nothing to fetch');
      await apt(['download', ...missing]);
      const fetched = readdirSync(work).filter((name) => name.endsWith('.deb'));
      return fetched.map((name) => path.join(work, name));
    } catch (error) {
      signal?.throwIfAborted();
      failure = error;
    }
  }
  throw failure;
}

function aptGet(work: string, lists: string, signal: AbortSignal | undefined): (args: string[]) => Promise<string> {
  const state = path.join(work, 'state');
  const cache = path.join(work, 'cache');
  for (const folder of [path.join(state, 'lists/partial'), path.join(cache, 'archives/partial')]) {
    mkdirSync(folder, { recursive: true });
  }
  // The system's hooks would tidy the system's caches; only a file can clear a list.
  const config = path.join(work, 'apt.conf');
  const hooks = ['Pre-Invoke', 'Post-Invoke', 'Post-Invoke-Success'];
  writeFileSync(config, hooks.map((hook) => `#clear APT::Update::${hook};\n`).join(''));
  const settings = [
    `Dir::State=${state}`,
    `Dir::State::lists=${lists}`,
    'Dir::State::status=/var/lib/dpkg/status',
    `Dir::Cache=${cache}`,
    'Debug::NoLocking=true',
    'APT::Sandbox::User=root', // else, as root, a user that may not reach our folder does the download
    'Acquire::Languages=none',
    'Acquire::Retries=2',
    'APT::Update::Error-Mode=any', // else an update without a network counts as done
  ].flatMap((setting) => ['-o', setting]);
  const env = { ...process.env, LC_ALL: 'C' };
  return (args) => outputOf('apt-get', ['-q', '-c', config, ...settings, ...args], { cwd: work, env, signal });
}
