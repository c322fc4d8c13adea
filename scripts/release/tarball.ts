/** The content of the image as a tarball, whose bytes only depend on the commit. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Advice } from '../stack/advice.ts';
import { rehearseImage } from '../stack/image.ts';
import { lastLines, outputOf } from '../stack/tether.ts';
import { extract, git, type Release, readSections } from './check.ts';

/** Two paths of different length, so that a build that depends on its folder is noticed. */
const folders = ['one', 'another-folder'];

/** Builds the commit twice, in `work` inside of the checkout. Returns the tar and the source. */
export function buildTarball(checkout: string, work: string, version: string): { tar: Buffer; source: string } {
  const seconds = Number(git(checkout, 'log', '-1', '--format=%ct'));
  const [first, second] = folders.map((name) => {
    console.log(`building in ${name} …`);
    // npm names the package after its folder
    const source = path.join(work, name, 'assent');
    extract(checkout, 'HEAD', source);
    const { app } = rehearseImage(path.join(work, name, 'image'), source);
    return { source, app, tar: pack(app, { version, seconds }) };
  });
  if (!first || !second?.tar.equals(first.tar))
    throw new Advice(`two builds differ: diff -r ${first?.app} ${second?.app}`);
  return first;
}

/** Packs `app` without times, users and the order of creation. `seconds`: the time of all files. */
export function pack(app: string, { version, seconds }: { version: string; seconds: number }): Buffer {
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX', '--hard-dereference'];
  const name = `--transform=flags=r;s,^\\.,assent-${version},`;
  const args = ['--create', '--format=gnu', '--sort=name', `--mtime=@${seconds}`, ...owner, name, '.'];
  const { status, stdout, stderr } = spawnSync('tar', args, { cwd: app, maxBuffer: 2 ** 31 - 1 });
  if (status !== 0) throw new Advice(`GNU tar is needed: ${lastLines(String(stderr), 1)}`);
  return stdout;
}

/** SHA256SUMS of all files in `folder`, as `sha256sum --check` reads it. */
export const sums = (folder: string): Promise<string> => outputOf('/bin/sh', ['-c', 'sha256sum *'], { cwd: folder });

/** The CycloneDX SBOM; `folder` has package-lock.json. */
export const makeSbom = (folder: string): Promise<string> =>
  outputOf('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], { cwd: folder });

/** By name; undefined: without a default. */
type Defaults = Record<string, { default?: string }>;

/** `work`: a folder for the source of the previous release, inside of a checkout, where Node finds the packages. */
export async function makeNotes(checkout: string, work: string, version: string, before: Release): Promise<string> {
  const sections = readSections(readFileSync(path.join(checkout, 'CHANGELOG.md'), 'utf8'));
  const { text = '', date = '' } = sections.find(({ name }) => name === version) ?? {};
  const known = listMigrations(checkout, before.commit);
  const migrations = listMigrations(checkout, 'HEAD').filter((file) => !known.includes(file));
  extract(checkout, before.commit, work, ['package.json', 'apps', 'libs']);
  const settings = describeSettings(await readDefaults(work), await readDefaults(checkout));
  const list = (lines: string[]) => (lines.length === 0 ? 'None.' : lines.map((line) => `- ${line}`).join('\n'));
  return `# Assent ${version}, ${date}

${text}

## Migrations since ${before.version}

${list(migrations.map((file) => `\`${file}\``))}

## Settings since ${before.version}

${list(settings)}
`;
}

/** Migrations by file name, which is the same in every commit. */
const listMigrations = (checkout: string, commit: string): string[] =>
  git(checkout, 'ls-tree', '-r', '--name-only', commit, '--', 'libs')
    .split('\n')
    .filter((file) => /\/migrations\/.*\.sql$/.test(file))
    .map((file) => path.basename(file));

/** Where the table of settings is, and where it was in 0.1.0. */
const places = ['apps/settings', 'libs/config'];

async function readDefaults(checkout: string): Promise<Defaults> {
  const files = places.map((folder) => path.join(checkout, folder, 'settings.ts'));
  const file = files.find((each) => existsSync(each)) ?? '';
  const { settings }: { settings: Defaults } = await import(pathToFileURL(file).href);
  return settings;
}

export function describeSettings(before: Defaults, after: Defaults): string[] {
  const say = (value = 'none'): string => `\`${value}\``;
  return [
    ...Object.keys(before)
      .filter((name) => !after[name])
      .map((name) => `removed \`${name}\``),
    ...Object.entries(after).flatMap(([name, { default: value }]) => {
      const old = before[name];
      if (!old) return [`added \`${name}\`, default ${say(value)}`];
      return old.default === value ? [] : [`\`${name}\`: default ${say(value)}, was ${say(old.default)}`];
    }),
  ];
}
