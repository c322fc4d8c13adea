/** What the image holds, as a tarball whose bytes follow from the commit alone. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { Advice } from '../stack/advice.ts';
import { lastLines } from '../stack/command.ts';
import { rehearseImage } from '../stack/image.ts';
import { extract } from './git.ts';

/** Two paths that differ in length: what depends on the folder shows. */
const folders = ['one', 'another-folder'];

interface Source {
  checkout: string;
  /** an empty folder, inside of the checkout */
  work: string;
  version: string;
  /** of all files: the time of the commit */
  seconds: number;
}

/** Builds it twice, from the commit alone. Returns the tar, which is the same both times. */
export function buildTarball(source: Source, say: (line: string) => void): Buffer {
  const [first, second] = folders.map((name) => {
    say(`building in ${name} …`);
    const folder = path.join(source.work, name);
    extract(source.checkout, 'HEAD', path.join(folder, 'source'));
    const { app } = rehearseImage(path.join(folder, 'image'), {
      source: path.join(folder, 'source'),
      packages: 'installed',
    });
    return { app, tar: pack(app, source) };
  });
  if (!first || !second) throw new Error('nothing was built');
  if (hash(first.tar) !== hash(second.tar))
    throw new Advice(`two builds differ: ${differences(first.app, second.app)} (both are in ${source.work})`);
  for (const name of folders) rmSync(path.join(source.work, name), { recursive: true });
  return first.tar;
}

const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Of `app`, with nothing in it that tells when, by whom or in which order its files were made. */
export function pack(app: string, { version, seconds }: Pick<Source, 'version' | 'seconds'>): Buffer {
  const args = [
    '--create',
    '--format=gnu',
    '--sort=name',
    `--mtime=@${seconds}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u=rwX,go=rX',
    '--hard-dereference',
    `--transform=flags=r;s,^\\.,assent-${version},`,
    '.',
  ];
  const { status, stdout, stderr } = spawnSync('tar', args, { cwd: app, maxBuffer: 2 ** 31 - 1 });
  if (status !== 0) throw new Advice(`GNU tar is needed: ${lastLines(String(stderr), 1)}`);
  return stdout;
}

function differences(one: string, other: string): string {
  const { stdout } = spawnSync('diff', ['-rq', one, other], { encoding: 'utf8' });
  return stdout.split('\n').slice(0, 5).join('; ') || 'in modes or links alone';
}
