/** The processes of the release before this one, built from its commit once and kept below `.data/releases`. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Advice } from '../stack/advice.ts';
import { outputOf } from '../stack/command.ts';
import { linkFolder } from '../stack/image.ts';
import { ensureDataRoot, makeOnce, root } from '../stack/paths.ts';
import { extract, readReleases, whyMissing } from './git.ts';

/** Returns its `dist`. */
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
  // of the packages that are linked, npm replaces those that differ
  if (lockOf(root) !== lockOf(work))
    await outputOf('npm', ['install', '--no-save', '--include=dev', '--no-audit', '--prefer-offline'], options);
  await outputOf(process.execPath, ['scripts/run.mjs', 'build'], options);
  return work;
}
