/** Compiles apps and libs, with the files they read at run time and those for browsers, into a folder that plain Node can run. */
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Advice } from './advice.ts';
import { buildDashboard, buildWidget } from './bundles.ts';
import { lastLines, runCommand } from './command.ts';
import { root } from './paths.ts';

/**
 * The folder must be inside the checkout, where Node finds the packages. A reader sees the old build or the new one.
 * `project`: the tsconfig that says what is compiled beside apps and libs.
 */
export async function build(outDir: string, signal?: AbortSignal, project = 'tsconfig.build.json'): Promise<void> {
  const target = path.resolve(root, outDir);
  if (!target.startsWith(root + path.sep)) throw new Advice(`${target} is outside the checkout.`);
  const unfinished = `${target}-${process.pid}-new`;
  try {
    await Promise.all([
      compile(unfinished, project, signal),
      buildWidget(path.join(unfinished, 'apps/widget')),
      buildDashboard(path.join(unfinished, 'apps/dashboard')),
    ]);
    for (const tree of ['apps', 'libs']) copyAssets(path.join(root, tree), path.join(unfinished, tree));
    const manifest = { type: 'module', imports: { '#libs/*': './libs/*.js' } };
    writeFileSync(path.join(unfinished, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    replace(target, unfinished);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function compile(outDir: string, project: string, signal: AbortSignal | undefined) {
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '-p', path.join(root, project), '--outDir', outDir];
  const { code, output } = await runCommand(process.execPath, args, { cwd: root, signal });
  if (code !== 0) throw new Advice(`The source does not compile.\n${lastLines(output, 40)}`);
}

function copyAssets(source: string, target: string) {
  if (!existsSync(source)) return;
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile() && isAsset(path.relative(root, file)))
      cpSync(file, path.join(target, path.relative(source, file)));
  }
}

function isAsset(file: string): boolean {
  // Vite has put its own into the build
  if (['widget', 'dashboard'].some((app) => file.startsWith(path.join('apps', app) + path.sep))) return false;
  if (/\.(sql|lua|html|css|svg)$/.test(file)) return true;
  return /\.js$/.test(file) && path.dirname(file).split(path.sep).includes('public');
}

/** Two renames: nobody sees half a build, and of two builds at once the later one stays. */
function replace(target: string, fresh: string) {
  const old = `${target}-${process.pid}-old`;
  mkdirSync(path.dirname(target), { recursive: true });
  for (let attempt = 1; ; attempt++) {
    try {
      if (existsSync(target)) renameSync(target, old);
      renameSync(fresh, target);
      return;
    } catch (error) {
      if (attempt === 5) throw error;
    } finally {
      rmSync(old, { recursive: true, force: true });
    }
  }
}
