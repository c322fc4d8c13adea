/** What git knows of a checkout. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { Advice } from '../stack/advice.ts';
import { lastLines } from '../stack/command.ts';
import type { Release } from './releases.ts';

const run = (checkout: string, args: string[]) =>
  spawnSync('git', args, { cwd: checkout, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 });

export function git(checkout: string, ...args: string[]): string {
  const { status, stdout, stderr } = run(checkout, args);
  if (status !== 0) throw new Advice(`git ${args[0]} failed: ${lastLines(stderr, 1)}`);
  return stdout;
}

/** Why the commit of a release is not at hand, in one line with what to do about it. */
export function whyMissing(checkout: string, { version, commit }: Release): string | undefined {
  if (run(checkout, ['cat-file', '-e', `${commit}^{commit}`]).status === 0) return undefined;
  const what = `the commit of release ${version} (${commit.slice(0, 7)}) is not in this clone`;
  return `${what}: git fetch --unshallow, or git fetch origin ${commit}`;
}

/** The files of a commit, below `folder`; `paths`: only these. */
export function extract(checkout: string, commit: string, folder: string, paths: string[] = []): void {
  mkdirSync(folder, { recursive: true });
  const archive = spawnSync('git', ['archive', '--format=tar', commit, ...paths], {
    cwd: checkout,
    maxBuffer: 1024 * 1024 * 1024,
  });
  if (archive.status !== 0) throw new Advice(`git archive failed: ${lastLines(String(archive.stderr), 1)}`);
  const { status, stderr } = spawnSync('tar', ['-x', '-C', folder], { input: archive.stdout });
  if (status !== 0) throw new Advice(`tar failed: ${lastLines(String(stderr), 1)}`);
}
