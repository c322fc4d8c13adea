/** Builds what Node runs and what browsers load, and checks the types of apps and libs. */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';
import { hashedPath, hashOf, integrityOf, readWidgetFile } from '#libs/widget/files';
import { packs } from '#libs/widget/languages';
import { Advice } from './advice.ts';
import { buildClient } from './build-client.ts';
import { bundle } from './bundle.ts';
import { ensureDataRoot, root } from './paths.ts';
import { lastLines, runCommand } from './tether.ts';
import { zipWordPressPlugin } from './wordpress-plugin.ts';

/** Files that are read at runtime, next to the code that reads them: of pages, Lua, SQL and translations. */
const isRead = /^apps\/api\/pages\/public\/|^libs\/(?!client\/).*\.(lua|sql|json)$/;

interface BuildOptions {
  signal?: AbortSignal | undefined;
  /** false: types are checked elsewhere */
  checksTypes?: boolean;
}

/** The folder must be inside the checkout, where Node finds the packages. It is replaced atomically. */
export async function build(outDir: string, { signal, checksTypes = true }: BuildOptions = {}): Promise<void> {
  const target = path.resolve(root, outDir);
  const unfinished = `${target}-${process.pid}-new`;
  const folderOf = (app: string) => path.join(unfinished, 'apps', app);
  // left by a killed build of a process with the same id, as in a container
  rmSync(unfinished, { recursive: true, force: true });
  try {
    await Promise.all([
      ...(checksTypes ? [checkTypes(signal)] : []),
      ...(['api', 'worker', 'cli'] as const).map((app) => bundleProcess(app, folderOf(app))),
      bundleWidget(folderOf('widget')),
      bundleDashboard(folderOf('dashboard')),
      bundleVerifyPage(folderOf('verify')),
      buildClient(path.join(unfinished, 'client')),
    ]);
    for (const folder of ['apps', 'libs']) {
      for (const name of readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })) {
        const file = path.join(folder, name);
        if (isRead.test(file)) cpSync(path.join(root, file), path.join(unfinished, file), { recursive: true });
      }
    }
    writeFileSync(path.join(unfinished, 'assent-wordpress.zip'), zipWordPressPlugin(version()));
    writeFileSync(path.join(unfinished, 'package.json'), `${JSON.stringify({ type: 'module' }, null, 2)}\n`);
    replace(target, unfinished);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function version(): string {
  const { version }: { version: string } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  return version;
}

async function checkTypes(signal: AbortSignal | undefined) {
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  // checks only what has changed since the last time
  const known = ['--incremental', '--tsBuildInfoFile', path.join(ensureDataRoot(), 'types.tsbuildinfo')];
  const args = [tsc, '-p', path.join(root, 'tsconfig.build.json'), ...known];
  const { code, output } = await runCommand(process.execPath, args, { cwd: root, signal });
  if (code !== 0) throw new Advice(`The source does not compile.\n${lastLines(output, 40)}`);
}

/** Two renames, so that nobody sees half a build. */
function replace(target: string, fresh: string) {
  const old = `${target}-${process.pid}-old`;
  mkdirSync(path.dirname(target), { recursive: true });
  rmSync(old, { recursive: true, force: true });
  if (existsSync(target)) renameSync(target, old);
  renameSync(fresh, target);
  rmSync(old, { recursive: true, force: true });
}

/** These packages read files next to their own code. */
const apart = ['postgres', '@bull-board/api', '@bull-board/koa'];

/** One file, and what it loads on demand: loading hundreds of files would double the start time. */
const bundleProcess = (app: 'api' | 'worker' | 'cli', outDir: string): Promise<void> =>
  bundle(
    app,
    {
      outDir,
      ssr: true,
      target: 'node20',
      minify: false,
      rolldownOptions: {
        input: { main: path.join(root, 'apps', app, 'main.ts') },
        // a call whose result is unused may be made for the error it throws
        treeshake: false,
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js', keepNames: true, minify: false },
      },
    },
    {
      root,
      plugins: [addressesOfSource(path.join(root, 'apps', app))],
      ssr: { target: 'node', noExternal: true, external: apart },
    },
  );

/** Makes `import.meta.url` of each module the path of its source, relative to the bundle's `folder`. */
const addressesOfSource = (folder: string): Plugin => ({
  name: 'addresses-of-source',
  enforce: 'pre',
  transform(code, id) {
    if (!code.includes('import.meta.url') || id.includes('node_modules')) return undefined;
    const source = path.relative(folder, id).split(path.sep).join('/');
    const address = `new URL(${JSON.stringify(`./${source}`)}, import.meta.url).href`;
    return { code: code.replaceAll('import.meta.url', address), map: null };
  },
});

/** Output and source below apps/widget. Those for script tags are plain scripts, the others modules. */
const widgetFiles = [
  // each before the file that contains its hash
  { name: 'assent-check', source: 'check/main.ts', format: 'iife' },
  { name: 'assent-preferences', source: 'preferences.ts', format: 'iife' },
  { name: 'assent-extras', source: 'extras.ts', format: 'iife' },
  { name: 'widget', source: 'main.ts', format: 'iife' },
  { name: 'consent-mode', source: 'consent-mode.ts', format: 'iife' },
  { name: 'record-client', source: 'record-client.ts', format: 'es' },
  { name: 'record-cookieconsent', source: 'adapters/vanilla-cookieconsent.ts', format: 'es' },
  { name: 'record-klaro', source: 'adapters/klaro.ts', format: 'es' },
  { name: 'record-tarteaucitron', source: 'adapters/tarteaucitron.ts', format: 'es' },
  { name: 'record-c15t', source: 'adapters/c15t.ts', format: 'es' },
  { name: 'record-tcf', source: 'adapters/tcf.ts', format: 'es' },
  { name: 'bridge-shopify', source: 'bridges/shopify.ts', format: 'iife' },
  { name: 'bridge-webflow', source: 'bridges/webflow.ts', format: 'iife' },
  { name: 'record-wp-consent', source: 'adapters/wp-consent.ts', format: 'es' },
  { name: 'bridge-wp-consent', source: 'bridges/wp-consent.ts', format: 'iife' },
  { name: 'preview', source: 'preview/main.ts', format: 'iife' },
] as const;

/** The constants that contain a file's hashed name. */
const constants = { 'assent-check': '__FOURTH', 'assent-preferences': '__SECOND', 'assent-extras': '__THIRD' } as const;
const isNamedByHash = (name: string): name is keyof typeof constants => name in constants;

/** Browsers of 2023 and newer: with dialogs, constructed style sheets and `AbortSignal.timeout`. */
const widgetBrowsers = ['chrome111', 'firefox114', 'safari16.4'];
/** Browsers of 2024 and newer: with `light-dark()` and `AbortSignal.any`. */
const dashboardBrowsers = ['chrome123', 'firefox124', 'safari17.5'];

/** The service stores all languages as one file with one hash. */
const texts = JSON.stringify(
  Object.fromEntries(
    packs.map((tag) => [tag, JSON.parse(readFileSync(path.join(root, `libs/widget/languages/${tag}.json`), 'utf8'))]),
  ),
);
const textsHash = JSON.stringify(hashOf(texts));

async function bundleWidget(outDir: string): Promise<void> {
  mkdirSync(outDir, { recursive: true });
  writeFileSync(path.join(outDir, 'texts.json'), texts);
  const define: Record<string, string> = { __VERSION__: JSON.stringify(version()), __TEXTS__: textsHash };
  for (const { name, source, format } of widgetFiles) {
    await bundle(
      'widget',
      { outDir, target: widgetBrowsers, rolldownOptions: script(name, path.join(root, 'apps/widget', source), format) },
      { define },
    );
    if (!isNamedByHash(name)) continue;
    const file = readWidgetFile(pathToFileURL(`${outDir}/`), name);
    define[`${constants[name]}_FILE__`] = JSON.stringify(hashedPath(file));
    define[`${constants[name]}_INTEGRITY__`] = JSON.stringify(integrityOf(file, 'sha256'));
  }
}

const jsx = { runtime: 'automatic', importSource: 'preact', development: false } as const;

/** One file for what the overview needs first, instead of a chain of imports. */
const first = { name: 'index', test: /\/dashboard\/main\.tsx$/, includeDependenciesRecursively: true };

/** Scripts and styles get names with a hash of their content. */
const bundleDashboard = (outDir: string): Promise<void> =>
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
    // also below a path, which the service adds to the page
    {
      base: './',
      define: { __TEXTS__: textsHash },
      oxc: { jsx },
    },
  );

/**
 * One file that also works when it is opened from disk. Its policy only allows its own script and style. It shows notices
 * with a part of the dashboard.
 */
async function bundleVerifyPage(outDir: string): Promise<void> {
  const source = path.join(root, 'apps/verify');
  const { output, ...input } = script('verify', path.join(source, 'main.ts'), 'iife');
  const rolldownOptions = { ...input, output: { ...output, assetFileNames: 'verify.css' } };
  await bundle('verify', { outDir, target: dashboardBrowsers, cssCodeSplit: false, rolldownOptions }, { oxc: { jsx } });
  const take = (name: string) => {
    const file = path.join(outDir, name);
    const text = readFileSync(file, 'utf8');
    rmSync(file);
    return text;
  };
  const code = take('verify.js');
  const sheets = [path.join(root, 'apps/dashboard/styles/tokens.css'), path.join(source, 'verify.css')];
  const style = sheets.map((sheet) => readFileSync(sheet, 'utf8')).join('') + take('verify.css');
  const [scriptHash, styleHash] = [code, style].map(
    (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  );
  const policy = `default-src 'none';script-src ${scriptHash};style-src ${styleHash};base-uri 'none';form-action 'none'`;
  const html = readFileSync(path.join(source, 'index.html'), 'utf8')
    .replace('<!-- policy -->', () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`)
    .replace('<!-- style -->', () => `<style>${style}</style>`)
    .replace('<!-- script -->', () => `<script>${code}</script>`);
  writeFileSync(path.join(outDir, 'index.html'), html);
}

/** Keeps `const`, so that constants used once are inlined. */
const script = (name: string, input: string, format: 'iife' | 'es') =>
  ({
    input,
    preserveEntrySignatures: 'strict',
    output: { format, entryFileNames: `${name}.js`, topLevelVar: false },
  }) as const;
