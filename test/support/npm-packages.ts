/** Packages of npm that are no dependencies of ours: what other people's pages and servers run. Fetched into `.data`, once. */
import path from 'node:path';
import { describe } from '../../scripts/stack/advice.ts';
import { ensureDataRoot, makeOnce } from '../../scripts/stack/paths.ts';
import { outputOf } from '../../scripts/stack/tether.ts';

/** None of their scripts run. */
const flags = ['--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--no-save', '--loglevel=error'];

/** The folder that has them in `node_modules`; `specs` with their versions. Throws where npm cannot be reached. */
export function fromNpm(...specs: [string, ...string[]]): Promise<string> {
  const name = `npm-${specs.join('-').replaceAll('/', '_')}`;
  const install = async (work: string) => {
    await outputOf('npm', ['install', '--prefix', work, ...flags, ...specs], { cwd: work });
    return work;
  };
  return makeOnce(path.join(ensureDataRoot(), 'packages', name), install).catch((error) => {
    throw new Error(`npm could not fetch ${specs.join(' and ')}, which this test needs: ${describe(error)}`);
  });
}
