/** Packages of npm that are no dependencies of ours: what other people's pages and servers run. Fetched into `.data`, once. */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { waitForLock } from '../../scripts/lock.mjs';
import { describe } from '../../scripts/stack/advice.ts';
import { outputOf } from '../../scripts/stack/command.ts';
import { dataRoot, ensureDataRoot, publish } from '../../scripts/stack/paths.ts';

/** None of their scripts run. */
const flags = ['--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--no-save', '--loglevel=error'];

/** The folder that has them in `node_modules`; `specs` with their versions. Throws where npm cannot be reached. */
export async function fromNpm(...specs: [string, ...string[]]): Promise<string> {
  const name = `npm-${specs.join('-').replaceAll('/', '_')}`;
  const folder = path.join(dataRoot, 'packages', name);
  const release = await waitForLock(path.join(ensureDataRoot(), `${name}-lock`));
  const work = path.join(dataRoot, 'packages', `.${name}-${process.pid}`);
  try {
    if (existsSync(folder)) return folder;
    mkdirSync(work, { recursive: true });
    await outputOf('npm', ['install', '--prefix', work, ...flags, ...specs], { cwd: work });
    publish(work, folder);
    return folder;
  } catch (error) {
    throw new Error(`npm could not fetch ${specs.join(' and ')}, which this test needs: ${describe(error)}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
    release();
  }
}
