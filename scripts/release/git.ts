/** What git knows of a checkout, and which of its commits were released. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Advice } from '../stack/advice.ts';
import { lastLines } from '../stack/command.ts';

export type Release = Record<'version' | 'date' | 'commit', string>;

/** The newest first. */
export const readReleases = (checkout: string): [Release, ...Release[]] =>
  JSON.parse(readFileSync(path.join(checkout, 'scripts/release/releases.json'), 'utf8'));

export function git(checkout: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: checkout, encoding: 'utf8' });
  if (status !== 0) throw new Advice(`git ${args[0]} failed: ${lastLines(stderr, 1)}`);
  return stdout;
}

/** Why the commit of a release is not at hand, in one line with what to do about it. */
export function whyMissing(checkout: string, { version, commit }: Release): string | undefined {
  const { status } = spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: checkout });
  if (status === 0) return undefined;
  const what = `the commit of release ${version} (${commit.slice(0, 7)}) is not in this clone`;
  return `${what}: git fetch --unshallow, or git fetch origin ${commit}`;
}

/** The files of a commit, below `folder`; `paths`: only these. */
export function extract(checkout: string, commit: string, folder: string, paths: string[] = []): void {
  mkdirSync(folder, { recursive: true });
  const archive = `${folder}.tar`;
  git(checkout, 'archive', `--output=${archive}`, commit, ...paths);
  const { status, stderr } = spawnSync('tar', ['-xf', archive, '-C', folder], { encoding: 'utf8' });
  if (status !== 0) throw new Advice(`tar failed: ${lastLines(stderr, 1)}`);
  rmSync(archive);
}
