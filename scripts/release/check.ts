/** What a release needs. Each check returns its faults, one line each; none stops the others. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe } from '../stack/advice.ts';
import { readStages } from '../stack/image.ts';
import { audit } from './audit.ts';
import { checkChangelog } from './changelog.ts';
import { git, whyMissing } from './git.ts';
import { checkLicences, readPackages } from './packages.ts';
import { readReleases } from './releases.ts';
import { checkSbom, makeSbom, namesOfMachine } from './sbom.ts';
import { checkVersions, readVersions } from './versions.ts';

type Check = (checkout: string) => string[];

const read = (checkout: string, file: string) => readFileSync(path.join(checkout, file), 'utf8');

export const versionOf = (checkout: string): string => readVersions(checkout)['package.json'] ?? '';

const checks: Check[] = [
  (checkout) => checkVersions(readVersions(checkout), readReleases(checkout)),
  (checkout) => checkChangelog(read(checkout, 'CHANGELOG.md'), versionOf(checkout)),
  isClean,
  hasReleaseBefore,
  hasWhatImageTakes,
  (checkout) => checkLicences(readPackages(checkout)),
  (checkout) => checkSbom(makeSbom(checkout, readPackages(checkout), 0), namesOfMachine(checkout)),
];

/** `say`: what could not be checked. */
export function findFaults(checkout: string, say: (line: string) => void): string[] {
  const faults = checks.flatMap((check) => {
    try {
      return check(checkout);
    } catch (error) {
      return [describe(error).replaceAll('\n', ' ')];
    }
  });
  const vulnerable = audit(checkout);
  if (!vulnerable) say('not checked: the registry answers no audit');
  return [...faults, ...(vulnerable ?? []).map((line) => `audit: ${line}`)];
}

function isClean(checkout: string): string[] {
  const changed = git(checkout, 'status', '--porcelain').trimEnd().split('\n').filter(Boolean);
  const [first] = changed;
  if (first === undefined) return [];
  return [
    `${changed.length} ${changed.length === 1 ? 'file is' : 'files are'} not committed, such as ${first.slice(3)}`,
  ];
}

function hasReleaseBefore(checkout: string): string[] {
  const [before] = readReleases(checkout);
  if (!before) return [];
  const missing = whyMissing(checkout, before);
  if (missing) return [missing];
  const isAncestor = git(checkout, 'merge-base', 'HEAD', before.commit).trim() === before.commit;
  return isAncestor ? [] : [`release ${before.version} (${before.commit.slice(0, 7)}) is not part of this history`];
}

/** The image's steps copy from a clean checkout: what is not committed is not there. */
function hasWhatImageTakes(checkout: string): string[] {
  const copies = readStages(read(checkout, 'apps/Dockerfile')).flatMap(({ steps }) =>
    steps.filter(({ instruction, words }) => instruction === 'COPY' && !words.some((word) => word.startsWith('--'))),
  );
  return copies
    .flatMap(({ words }) => words.slice(0, -1))
    .filter((source) => git(checkout, 'ls-tree', 'HEAD', source) === '')
    .map((source) => `apps/Dockerfile copies ${source}, which is not committed`);
}
