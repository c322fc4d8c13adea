/** What the image holds, as a tarball whose bytes follow from the commit alone. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { Advice } from '../stack/advice.ts';
import { lastLines, outputOf } from '../stack/command.ts';
import { rehearseImage } from '../stack/image.ts';
import { extract, git } from './git.ts';

/** Two paths that differ in length: what depends on the folder shows. */
const folders = ['one', 'another-folder'];

/**
 * Builds it twice, from the commit alone, in `work`, a folder inside of the checkout. Returns the tar, which is the same
 * both times, and the source.
 */
export function buildTarball(checkout: string, work: string, version: string): { tar: Buffer; source: string } {
  const seconds = Number(git(checkout, 'log', '-1', '--format=%ct'));
  const [first, second] = folders.map((name) => {
    console.log(`building in ${name} …`);
    // npm names what it describes after its folder
    const source = path.join(work, name, 'assent');
    extract(checkout, 'HEAD', source);
    const { app } = rehearseImage(path.join(work, name, 'image'), source);
    return { source, app, tar: pack(app, { version, seconds }) };
  });
  if (!first || !second?.tar.equals(first.tar))
    throw new Advice(`two builds differ: diff -r ${first?.app} ${second?.app}`);
  return first;
}

/**
 * Of `app`, with nothing in it that tells when, by whom or in which order its files were made. `seconds`: the time that all
 * of them get.
 */
export function pack(app: string, { version, seconds }: { version: string; seconds: number }): Buffer {
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX', '--hard-dereference'];
  const name = `--transform=flags=r;s,^\\.,assent-${version},`;
  const args = ['--create', '--format=gnu', '--sort=name', `--mtime=@${seconds}`, ...owner, name, '.'];
  const { status, stdout, stderr } = spawnSync('tar', args, { cwd: app, maxBuffer: 2 ** 31 - 1 });
  if (status !== 0) throw new Advice(`GNU tar is needed: ${lastLines(String(stderr), 1)}`);
  return stdout;
}

/** SHA256SUMS, as `sha256sum --check` reads it: of all files in `folder`, a line each. */
export const sums = (folder: string): Promise<string> => outputOf('/bin/sh', ['-c', 'sha256sum *'], { cwd: folder });

/** What it is made of, as CycloneDX: `folder` has package-lock.json. */
export const makeSbom = (folder: string): Promise<string> =>
  outputOf('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], { cwd: folder });
