/** Checks the types of apps and libs, and bundles with Vite what plain Node runs and what browsers load. */
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type BuildEnvironmentOptions, type UserConfig, build as vite } from 'vite';
import { Advice, describe } from './advice.ts';
import { buildProcesses } from './build-processes.ts';
import { lastLines, runCommand } from './command.ts';
import { ensureDataRoot, root } from './paths.ts';
import { singlePage } from './single-page.ts';

/** What has files that are read as they are: pages, Lua and SQL. */
const folders = ['apps/api/pages/public', 'libs/counters', 'libs/store/migrations', 'libs/witness'];

/** The folder must be inside the checkout, where Node finds the packages. A reader sees the old build or the new one. */
export async function build(outDir: string, signal?: AbortSignal): Promise<void> {
  const target = path.resolve(root, outDir);
  const unfinished = `${target}-${process.pid}-new`;
  try {
    await Promise.all([
      checkTypes(signal),
      buildProcesses(unfinished),
      buildWidget(path.join(unfinished, 'apps/widget')),
      buildDashboard(path.join(unfinished, 'apps/dashboard')),
      buildVerifyPage(path.join(unfinished, 'apps/verify')),
    ]);
    for (const folder of folders) {
      const filter = (file: string) => !file.endsWith('.ts');
      cpSync(path.join(root, folder), path.join(unfinished, folder), { recursive: true, filter });
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

/** Output and source below apps/widget. Those for script tags are plain scripts, the others modules. */
const widgetFiles = [
  { name: 'widget', source: 'main.ts', format: 'iife' },
  { name: 'consent-mode', source: 'consent-mode.ts', format: 'iife' },
  { name: 'record-client', source: 'record-client.ts', format: 'es' },
  { name: 'record-cookieconsent', source: 'adapters/vanilla-cookieconsent.ts', format: 'es' },
  { name: 'record-klaro', source: 'adapters/klaro.ts', format: 'es' },
  { name: 'preview', source: 'preview/main.ts', format: 'iife' },
] as const;

/** Of 2023 and newer: all have dialogs, constructed style sheets and `AbortSignal.timeout`. */
const widgetBrowsers = ['chrome111', 'firefox114', 'safari16.4'];
/** Of 2024 and newer: all have `light-dark()` and `AbortSignal.any`. */
const dashboardBrowsers = ['chrome123', 'firefox124', 'safari17.5'];

/** All that the overview begins with is one file: it would otherwise have to be read before the next one is asked for. */
const first = { name: 'index', test: /\/dashboard\/main\.tsx$/, includeDependenciesRecursively: true };

async function buildWidget(outDir: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
  for (const { name, source, format } of widgetFiles) {
    const rolldownOptions = {
      input: path.join(root, 'apps/widget', source),
      preserveEntrySignatures: 'strict',
      output: { format, entryFileNames: `${name}.js` },
    } as const;
    const define = { __VERSION__: JSON.stringify(version) };
    await bundle('widget', { outDir, target: widgetBrowsers, rolldownOptions }, { define });
  }
}

/** Scripts and styles get names with a hash of their content. */
const buildDashboard = (outDir: string): Promise<void> =>
  bundle(
    'dashboard',
    {
      outDir,
      target: dashboardBrowsers,
      cssTarget: dashboardBrowsers,
      // the content security policy allows no data: URLs
      assetsInlineLimit: 0,
      rolldownOptions: { output: { codeSplitting: { groups: [first] } } },
    },
    { base: '/', oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } } },
  );

/** One file, which also works when it is opened from disk. */
async function buildVerifyPage(outDir: string): Promise<void> {
  const source = path.join(root, 'apps/verify');
  const rolldownOptions = {
    input: path.join(source, 'main.ts'),
    output: { format: 'iife', entryFileNames: 'verify.js' },
  } as const;
  await bundle('verify', { outDir, target: dashboardBrowsers, rolldownOptions }, {});
  const script = readFileSync(path.join(outDir, 'verify.js'), 'utf8');
  rmSync(path.join(outDir, 'verify.js'));
  const style = readFileSync(path.join(source, 'verify.css'), 'utf8');
  const html = readFileSync(path.join(source, 'index.html'), 'utf8');
  writeFileSync(path.join(outDir, 'index.html'), singlePage(html, { script, style }));
}

async function bundle(app: string, options: BuildEnvironmentOptions & { outDir: string }, config: UserConfig) {
  try {
    await vite({
      configFile: false,
      envFile: false,
      publicDir: false,
      logLevel: 'error',
      root: path.join(root, 'apps', app),
      ...config,
      build: { emptyOutDir: false, modulePreload: false, ...options },
    });
  } catch (error) {
    throw new Advice(`The ${app} does not build.\n${describe(error)}`);
  }
}
