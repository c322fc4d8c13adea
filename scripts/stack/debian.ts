/**
 * Debian packages without installing them: resolved and fetched by apt with state of its own, unpacked into a private
 * folder. Nothing of the system changes, no service starts, and no root is needed.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { lastLines, runCommand } from './command.ts';
import { dataRoot, ensureDataRoot } from './paths.ts';
import { publish } from './publish.ts';

const SYSTEM_LISTS = '/var/lib/apt/lists';

/** The first names the folder; the others come along. */
export type Packages = readonly [string, ...string[]];

export function isDebianLike(): boolean {
  return ['/usr/bin/apt-get', '/usr/bin/dpkg-deb', '/var/lib/dpkg/status'].every((file) => existsSync(file));
}

/** Where the packages are unpacked, or will be. */
export function packageFolder([name]: Packages): string {
  return path.join(dataRoot, 'packages', name);
}

/** Unpacks the packages with everything they need that this system lacks; gives back the folder that is their `/`. */
export async function unpackDebian(packages: Packages, signal?: AbortSignal): Promise<string> {
  const folder = packageFolder(packages);
  const work = `${path.join(ensureDataRoot(), 'packages', `.${packages[0]}`)}-${process.pid}`;
  try {
    const unpacked = path.join(work, 'unpacked');
    for (const file of await fetchPackages(packages, work, signal)) {
      await command('dpkg-deb', ['-x', file, unpacked], { signal });
    }
    publish(unpacked, folder);
    return folder;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The folders below that hold shared libraries, as LD_LIBRARY_PATH wants them. */
export function libraryPath(folder: string): string {
  const found = new Set<string>();
  for (const start of ['lib', 'usr/lib'].map((name) => path.join(folder, name))) {
    if (!existsSync(start)) continue;
    for (const entry of readdirSync(start, { recursive: true, withFileTypes: true })) {
      if (/\.so(\.|$)/.test(entry.name)) found.add(entry.parentPath);
    }
  }
  return [...found].join(path.delimiter);
}

async function fetchPackages(packages: Packages, work: string, signal: AbortSignal | undefined): Promise<string[]> {
  // The machine's lists save minutes on a slow line. They may be missing, or name files that the mirrors have dropped.
  const own = path.join(work, 'state/lists');
  let failure: unknown;
  for (const lists of [SYSTEM_LISTS, own]) {
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
  return (args) => command('apt-get', ['-q', '-c', config, ...settings, ...args], { cwd: work, signal });
}

async function command(name: string, args: string[], options: { cwd?: string; signal?: AbortSignal | undefined }) {
  const env = { ...process.env, LC_ALL: 'C' };
  const { code, stdout, output } = await runCommand(name, args, { ...options, env });
  if (code !== 0) throw new Error(lastLines(output, 1) || `${name} ended with ${code}`);
  return stdout;
}
