/** Programs of the machine, or else private copies of them, unpacked into `.data/packages`. */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { takeLock } from '../lock.mjs';
import { Advice, describe } from './advice.ts';
import { isDebianLike, libraryPath, type Packages, packageFolder, unpackDebian } from './debian.ts';
import { ensureDataRoot } from './paths.ts';

export interface Program {
  binary: string;
  /** What to start it with, so that it finds its libraries. */
  env: NodeJS.ProcessEnv;
}

interface FindOptions {
  say?: (line: string) => void;
  signal?: AbortSignal | undefined;
}

export function findRedis(options: FindOptions = {}): Promise<Program> {
  return find({
    ...options,
    names: ['redis-server', 'valkey-server'],
    packages: ['redis-server'],
    inPackage: 'usr/bin/redis-server',
    advice: 'Redis is missing: install redis-server (or valkey-server), or set REDIS_URL.',
  });
}

export function findChromium(options: FindOptions = {}): Promise<Program> {
  return find({
    ...options,
    names: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    packages: ['chromium', 'fonts-dejavu-core'],
    // Not usr/bin/chromium: that script looks for the real program below /usr.
    inPackage: 'usr/lib/chromium/chromium',
    advice: 'Chromium is missing: install chromium.',
  });
}

interface Wanted extends FindOptions {
  names: string[];
  packages: Packages;
  inPackage: string;
  advice: string;
}

async function find({ names, packages, inPackage, advice, say = () => {}, signal }: Wanted): Promise<Program> {
  for (const binary of names.flatMap(onMachine)) {
    if (runs({ binary, env: process.env })) return { binary, env: process.env };
  }
  const folder = packageFolder(packages);
  if (!existsSync(folder)) {
    if (!isDebianLike()) throw new Advice(advice);
    const release = await takeTurn(`${packages[0]}-lock`, signal);
    try {
      if (!existsSync(folder)) {
        say(`no ${packages[0]} here: unpacking Debian's package into .data (once)`);
        await unpackDebian(packages, signal);
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw new Advice(`${advice} Debian's package could not be unpacked: ${describe(error)}`);
    } finally {
      release();
    }
  }
  const program = { binary: path.join(folder, inPackage), env: environment(folder) };
  if (!runs(program)) throw new Advice(`${advice} The copy in ${folder} does not run here: remove it.`);
  return program;
}

/** Two test files that begin together would fetch the same hundred megabytes. */
async function takeTurn(name: string, signal: AbortSignal | undefined): Promise<() => void> {
  const lock = path.join(ensureDataRoot(), name);
  for (;;) {
    const release = takeLock(lock);
    if (release) return release;
    await sleep(200, undefined, { signal });
  }
}

function onMachine(name: string): string[] {
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  // Servers are often where only root's PATH leads.
  const all = [...folders, '/usr/local/bin', '/usr/local/sbin', '/usr/bin', '/usr/sbin', '/opt/homebrew/bin'];
  return [...new Set(all)].map((folder) => path.join(folder, name)).filter((file) => existsSync(file));
}

function runs({ binary, env }: Program): boolean {
  return spawnSync(binary, ['--version'], { env, stdio: 'ignore', timeout: 30_000 }).status === 0;
}

function environment(folder: string): NodeJS.ProcessEnv {
  const { LD_LIBRARY_PATH } = process.env;
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: [libraryPath(folder), LD_LIBRARY_PATH].filter(Boolean).join(path.delimiter),
  };
  return existsSync(path.join(folder, 'usr/share/fonts')) ? { ...env, FONTCONFIG_FILE: fontSettings(folder) } : env;
}

/** A browser without any font draws empty pages; the unpacked fonts come after the machine's own. */
function fontSettings(folder: string): string {
  const file = path.join(folder, 'fonts.conf');
  const xml = [
    '<?xml version="1.0"?>',
    '<fontconfig>',
    '<include ignore_missing="yes">/etc/fonts/fonts.conf</include>',
    `<dir>${folder}/usr/share/fonts</dir>`,
    `<cachedir>${folder}/fonts-cache</cachedir>`,
    '</fontconfig>',
  ];
  writeFileSync(file, `${xml.join('\n')}\n`);
  return file;
}
