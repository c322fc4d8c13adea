/**
 * `npm run release [-- --check]`: checks what a release needs, builds it twice and writes it to `.data/release/VERSION`.
 * Tags, pushes and publishes nothing: it prints the commands.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { findFaults, versionOf } from './release/check.ts';
import { git } from './release/git.ts';
import { makeNotes } from './release/notes.ts';
import { listLicences, readPackages } from './release/packages.ts';
import { readReleases } from './release/releases.ts';
import { makeSbom } from './release/sbom.ts';
import { sums } from './release/sums.ts';
import { buildTarball } from './release/tarball.ts';
import { tell } from './stack/advice.ts';
import { ensureDataRoot, root } from './stack/paths.ts';

const say = (line: string) => console.log(line);
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const faults = findFaults(root, say);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else if (values.check) say(`${versionOf(root)} can be released`);
else await make();

async function make() {
  const version = versionOf(root);
  const commit = git(root, 'rev-parse', 'HEAD').trim();
  const seconds = Number(git(root, 'log', '-1', '--format=%ct'));
  const folder = path.join(ensureDataRoot(), 'release');
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(path.join(folder, 'work-'));
  try {
    const fresh = path.join(work, 'release');
    mkdirSync(fresh);
    const write = (file: string, content: string | Buffer) => writeFileSync(path.join(fresh, file), content);
    const packages = readPackages(root);
    write('licences.txt', listLicences(packages));
    write('sbom.json', makeSbom(root, packages, seconds));
    write('notes.md', await makeNotes(root, path.join(work, 'before'), version, readReleases(root)[0]));
    const tar = buildTarball({ checkout: root, work, version, seconds }, say);
    write(`assent-${version}-${process.platform}-${process.arch}.tar.gz`, gzipSync(tar));
    write('SHA256SUMS', sums(fresh));
    const place = path.join(folder, version);
    rmSync(place, { recursive: true, force: true });
    renameSync(fresh, place);
    rmSync(work, { recursive: true });
    say(summary({ version, commit, place: path.relative(root, place) }));
  } catch (error) {
    // the work stays, for whoever looks for the cause
    console.error(tell(error));
    process.exitCode = 1;
  }
}

function summary({ version, commit, place }: Record<'version' | 'commit' | 'place', string>): string {
  const date = new Date().toISOString().slice(0, 10);
  return `${version} is in ${place}: two builds gave the same bytes. To publish it:

  git tag --annotate v${version} --cleanup=whitespace --file ${place}/notes.md ${commit}
  git push origin v${version}
  docker build --file apps/Dockerfile --tag assent:${version} .

Then begin the next version: a line in scripts/release/releases.json,
  ${JSON.stringify({ version, date, commit })}
and a new number (npm version --no-git-tag-version minor, and the image in docker-compose.yml).`;
}
