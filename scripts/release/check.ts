/** The requirements of a release. Each check returns its faults, one line each; none stops the others. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { isDate } from '#libs/base/terms/calendar';
import { Advice, describe } from '../stack/advice.ts';
import { linkFolder } from '../stack/image.ts';
import { ensureDataRoot, makeOnce, root } from '../stack/paths.ts';
import { lastLines, outputOf } from '../stack/tether.ts';

const read = (checkout: string, file: string) => readFileSync(path.join(checkout, file), 'utf8');

export function versionOf(checkout: string): string {
  const { version }: { version: string } = JSON.parse(read(checkout, 'package.json'));
  return version;
}

const checks: ((checkout: string) => string[])[] = [
  (checkout) => checkVersions(readVersions(checkout), readReleases(checkout)),
  (checkout) => checkChangelog(read(checkout, 'CHANGELOG.md'), versionOf(checkout)),
  isClean,
  hasReleaseBefore,
  (checkout) => checkLicences(read(checkout, 'package-lock.json')),
  isSafe,
];

export const findFaults = (checkout: string): string[] =>
  checks.flatMap((check) => {
    try {
      return check(checkout);
    } catch (error) {
      return [describe(error).replaceAll('\n', ' ')];
    }
  });

/** The version in each place that contains it; the first is that of the release. */
export function readVersions(checkout: string): Record<string, string> {
  const lock: { version: string; packages: { '': { version: string } } } = JSON.parse(
    read(checkout, 'package-lock.json'),
  );
  const images = read(checkout, 'docker-compose.yml').matchAll(/image: assent:(\S+)/g);
  return {
    'package.json': versionOf(checkout),
    'package-lock.json': lock.version,
    'package-lock.json, packages[""]': lock.packages[''].version,
    'docker-compose.yml, image': Array.from(images, ([, tag]) => tag).join(', '),
  };
}

export function checkVersions(versions: Record<string, string>, [newest]: Release[]): string[] {
  const [[, version] = ['', '']] = Object.entries(versions);
  const others = Object.entries(versions).filter(([, other]) => other !== version);
  const faults = others.map(([place, other]) => `${place} has version ${other}, package.json has ${version}`);
  if (!/^\d+\.\d+\.\d+$/.test(version)) faults.push(`${version} is not a version like 1.2.3`);
  else if (newest && version.localeCompare(newest.version, 'en', { numeric: true }) <= 0)
    faults.push(`package.json has version ${version}, and ${newest.version} is released already`);
  return faults;
}

interface Section {
  /** 'Unreleased', or a version */
  name: string;
  date?: string | undefined;
  text: string;
}

/** The sections of CHANGELOG.md, newest first. */
export const readSections = (changelog: string): Section[] =>
  changelog
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [heading = '', ...lines] = section.split('\n');
      const [name = '', date] = heading.split(' — ');
      return { name, date, text: lines.join('\n').trim() };
    });

const hasEntries = ({ text }: Section): boolean => /^[^#\s]/m.test(text);

/** The reasons why `version` cannot be released. */
export function checkChangelog(changelog: string, version: string): string[] {
  const sections = readSections(changelog);
  const unreleased = sections.find(({ name }) => name === 'Unreleased');
  const newest = sections.find(({ name }) => name !== 'Unreleased');
  const faults: string[] = [];
  if (newest?.name !== version || !isDate(newest.date ?? ''))
    faults.push(`CHANGELOG.md: the newest section has to be "## ${version} — YYYY-MM-DD"`);
  else if (!hasEntries(newest)) faults.push(`CHANGELOG.md: the section of ${version} is empty`);
  if (unreleased && hasEntries(unreleased))
    faults.push(`CHANGELOG.md: "Unreleased" still has entries; move them to ${version}`);
  return faults;
}

function isClean(checkout: string): string[] {
  const changed = git(checkout, 'status', '--porcelain').split('\n').filter(Boolean);
  return changed.map((line) => `${line.slice(3)} is not committed`);
}

function hasReleaseBefore(checkout: string): string[] {
  const [before] = readReleases(checkout);
  const missing = whyMissing(checkout, before);
  if (missing) return [missing];
  const isAncestor = git(checkout, 'merge-base', 'HEAD', before.commit).trim() === before.commit;
  return isAncestor ? [] : [`release ${before.version} (${before.commit.slice(0, 7)}) is not part of this history`];
}

/** Licences that allow what this project's own licence allows. CC-BY-4.0 is that of data: caniuse-lite. */
const allowed = '0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause BlueOak-1.0.0 CC-BY-4.0 ISC MIT Unlicense'.split(' ');

/** Tools that are not shipped. */
const tools = /^(axe-core|argparse|lightningcss(-.*)?)$/;

/** The licences of what we build with and ship. `lock`: the text of package-lock.json */
export function checkLicences(lock: string): string[] {
  const { packages }: { packages: Record<string, { version: string; license?: string }> } = JSON.parse(lock);
  return Object.entries(packages).flatMap(([place, { version, license = 'none' }]) => {
    const name = place.split('node_modules/').at(-1) ?? '';
    if (isAllowed(license) || tools.test(name)) return [];
    return [`${name} ${version} has the licence ${license}, which nobody has allowed yet`];
  });
}

/** `A OR B` leaves the choice, `A AND B` does not. */
const isAllowed = (licence: string): boolean =>
  licence
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((each) => allowed.includes(each)));

/** Prints what it finds. */
function isSafe(checkout: string): string[] {
  const audit = ['scripts/run.mjs', 'audit'];
  const { status } = spawnSync(process.execPath, audit, { cwd: checkout, stdio: ['ignore', 'inherit', 'inherit'] });
  return status === 0 ? [] : ['packages have known vulnerabilities'];
}

export type Release = Record<'version' | 'date' | 'commit', string>;

/** Newest first. */
export const readReleases = (checkout: string): [Release, ...Release[]] =>
  JSON.parse(readFileSync(path.join(checkout, 'scripts/release/releases.json'), 'utf8'));

export function git(checkout: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: checkout, encoding: 'utf8' });
  if (status !== 0) throw new Advice(`git ${args[0]} failed: ${lastLines(stderr, 1)}`);
  return stdout;
}

/** One line on why a release's commit is missing, and what to do about it. */
function whyMissing(checkout: string, { version, commit }: Release): string | undefined {
  const { status } = spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: checkout });
  if (status === 0) return undefined;
  const what = `the commit of release ${version} (${commit.slice(0, 7)}) is not in this clone`;
  return `${what}: git fetch --unshallow, or git fetch origin ${commit}`;
}

/** Extracts the files of a commit to `folder`; `paths`: only these. */
export function extract(checkout: string, commit: string, folder: string, paths: string[] = []): void {
  mkdirSync(folder, { recursive: true });
  const archive = `${folder}.tar`;
  git(checkout, 'archive', `--output=${archive}`, commit, ...paths);
  const { status, stderr } = spawnSync('tar', ['-xf', archive, '-C', folder], { encoding: 'utf8' });
  if (status !== 0) throw new Advice(`tar failed: ${lastLines(stderr, 1)}`);
  rmSync(archive);
}

/** Builds the previous release and returns its `dist`. */
export async function buildBefore(signal?: AbortSignal): Promise<string> {
  const [release] = readReleases(root);
  const missing = whyMissing(root, release);
  if (missing) throw new Advice(missing);
  const place = path.join(ensureDataRoot(), 'releases', `${release.version}-${release.commit.slice(0, 12)}`);
  await makeOnce(place, (work) => make(work, release.commit, signal), signal);
  return path.join(place, 'dist');
}

async function make(work: string, commit: string, signal: AbortSignal | undefined): Promise<string> {
  extract(root, commit, work);
  linkFolder(path.join(root, 'node_modules'), path.join(work, 'node_modules'));
  const lockOf = (folder: string) => readFileSync(path.join(folder, 'package-lock.json'), 'utf8');
  const options = { cwd: work, signal };
  // npm replaces those linked packages whose version differs
  if (lockOf(root) !== lockOf(work))
    await outputOf('npm', ['install', '--no-save', '--include=dev', '--no-audit', '--prefer-offline'], options);
  await outputOf(process.execPath, ['scripts/run.mjs', 'build'], options);
  return work;
}
