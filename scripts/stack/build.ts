/** Builds what plain Node runs and what browsers load, and checks the types of apps and libs. */
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Advice } from './advice.ts';
import { bundleDashboard, bundleProcess, bundleVerifyPage, bundleWidget } from './bundles.ts';
import { lastLines, runCommand } from './command.ts';
import { ensureDataRoot, root } from './paths.ts';

/** What is read as it is, beside what reads it: files of pages, Lua and SQL. */
const isRead = /^apps\/api\/pages\/public\/|^libs\/.*\.(lua|sql)$/;

interface BuildOptions {
  signal?: AbortSignal | undefined;
  /** false: types are checked elsewhere */
  checksTypes?: boolean;
}

/** The folder must be inside the checkout, where Node finds the packages. A reader sees the old build or the new one. */
export async function build(outDir: string, { signal, checksTypes = true }: BuildOptions = {}): Promise<void> {
  const target = path.resolve(root, outDir);
  const unfinished = `${target}-${process.pid}-new`;
  const folderOf = (app: string) => path.join(unfinished, 'apps', app);
  // of a build that was killed, by a process with the same number, as in a container
  rmSync(unfinished, { recursive: true, force: true });
  try {
    await Promise.all([
      ...(checksTypes ? [checkTypes(signal)] : []),
      ...(['api', 'worker', 'cli'] as const).map((app) => bundleProcess(app, folderOf(app))),
      bundleWidget(folderOf('widget')),
      bundleDashboard(folderOf('dashboard')),
      bundleVerifyPage(folderOf('verify')),
    ]);
    for (const folder of ['apps', 'libs']) {
      for (const name of readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })) {
        const file = path.join(folder, name);
        if (isRead.test(file)) cpSync(path.join(root, file), path.join(unfinished, file), { recursive: true });
      }
    }
    writeFileSync(path.join(unfinished, 'package.json'), `${JSON.stringify({ type: 'module' }, null, 2)}\n`);
    replace(target, unfinished);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function checkTypes(signal: AbortSignal | undefined) {
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  // what was checked once is checked again only where it has changed
  const known = ['--incremental', '--tsBuildInfoFile', path.join(ensureDataRoot(), 'types.tsbuildinfo')];
  const args = [tsc, '-p', path.join(root, 'tsconfig.build.json'), ...known];
  const { code, output } = await runCommand(process.execPath, args, { cwd: root, signal });
  if (code !== 0) throw new Advice(`The source does not compile.\n${lastLines(output, 40)}`);
}

/** Two renames: nobody sees half a build. */
function replace(target: string, fresh: string) {
  const old = `${target}-${process.pid}-old`;
  mkdirSync(path.dirname(target), { recursive: true });
  rmSync(old, { recursive: true, force: true });
  if (existsSync(target)) renameSync(target, old);
  renameSync(fresh, target);
  rmSync(old, { recursive: true, force: true });
}
