/** What a release needs. Each check returns its faults, one line each; none stops the others. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe } from '../stack/advice.ts';
import { checkChangelog } from './changelog.ts';
import { git, whyMissing } from './git.ts';
import { checkLicences } from './licences.ts';
import { type Release, readReleases } from './releases.ts';

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

/** By the places that name it; the first is that of the release. */
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

function isClean(checkout: string): string[] {
  const changed = git(checkout, 'status', '--porcelain').split('\n').filter(Boolean);
  return changed.map((line) => `${line.slice(3)} is not committed`);
}

function hasReleaseBefore(checkout: string): string[] {
  const [before] = readReleases(checkout);
  if (!before) return [];
  const missing = whyMissing(checkout, before);
  if (missing) return [missing];
  const isAncestor = git(checkout, 'merge-base', 'HEAD', before.commit).trim() === before.commit;
  return isAncestor ? [] : [`release ${before.version} (${before.commit.slice(0, 7)}) is not part of this history`];
}

/** What it finds is printed before. */
function isSafe(checkout: string): string[] {
  const audit = ['scripts/run.mjs', 'audit'];
  const { status } = spawnSync(process.execPath, audit, { cwd: checkout, stdio: ['ignore', 'inherit', 'inherit'] });
  return status === 0 ? [] : ['packages have known vulnerabilities'];
}
