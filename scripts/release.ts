/** `npm run release [-- --check]`: checks a release and builds it into `.data/release/VERSION`. Publishes nothing. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { findFaults, git, readReleases, versionOf } from './release/check.ts';
import { buildTarball, makeNotes, makeSbom, sums } from './release/tarball.ts';
import { ensureDataRoot, root } from './stack/paths.ts';

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const version = versionOf(root);
const faults = findFaults(root);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else if (values.check) console.log(`${version} can be released`);
else await make();

async function make() {
  const place = path.join(ensureDataRoot(), 'release', version);
  // kept after a failure, to look for the cause
  const work = path.join(ensureDataRoot(), 'release/work');
  const fresh = path.join(work, 'release');
  rmSync(work, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  const write = (file: string, content: string | Buffer) => writeFileSync(path.join(fresh, file), content);
  write('notes.md', await makeNotes(root, path.join(work, 'before'), version, readReleases(root)[0]));
  const { tar, source } = buildTarball(root, work, version);
  write(`assent-${version}-${process.platform}-${process.arch}.tar.gz`, gzipSync(tar));
  write('sbom.json', await makeSbom(source));
  write('SHA256SUMS', await sums(fresh));
  rmSync(place, { recursive: true, force: true });
  renameSync(fresh, place);
  rmSync(work, { recursive: true });
  console.log(summary(path.relative(root, place)));
}

function summary(place: string): string {
  const commit = git(root, 'rev-parse', 'HEAD').trim();
  const date = new Date().toISOString().slice(0, 10);
  return `${version} is in ${place}: two builds gave the same bytes. To publish it:

  git tag --annotate v${version} --cleanup=whitespace --file ${place}/notes.md ${commit}
  git push origin v${version}
  docker build --file apps/Dockerfile --tag assent:${version} .

Then begin the next version: a line in scripts/release/releases.json,
  ${JSON.stringify({ version, date, commit })}
and a new number (npm version --no-git-tag-version minor, and the image in docker-compose.yml).`;
}
