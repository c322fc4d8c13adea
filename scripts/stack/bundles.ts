/** What browsers load, built by Vite: the dashboard as one page, and each file for other websites on its own. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type BuildEnvironmentOptions, build, type UserConfig } from 'vite';
import { Advice, describe } from './advice.ts';
import { root } from './paths.ts';

/** Output and source below apps/widget. The first two are plain scripts, the others modules. */
const widgetFiles = [
  { name: 'widget', source: 'main.ts', format: 'iife' },
  { name: 'consent-mode', source: 'consent-mode.ts', format: 'iife' },
  { name: 'record-client', source: 'record-client.ts', format: 'es' },
  { name: 'record-cookieconsent', source: 'adapters/vanilla-cookieconsent.ts', format: 'es' },
  { name: 'record-klaro', source: 'adapters/klaro.ts', format: 'es' },
] as const;

/** Of 2023 and newer: all have dialogs, constructed style sheets and `AbortSignal.timeout`. */
const widgetBrowsers = ['chrome111', 'firefox114', 'safari16.4'];
/** Of 2024 and newer: all have `light-dark()` and `AbortSignal.any`. */
const dashboardBrowsers = ['chrome123', 'firefox124', 'safari17.5'];

export async function buildWidget(outDir: string): Promise<void> {
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
export const buildDashboard = (outDir: string): Promise<void> =>
  bundle(
    'dashboard',
    // the content security policy allows no data: URLs
    { outDir, target: dashboardBrowsers, cssTarget: dashboardBrowsers, assetsInlineLimit: 0 },
    { base: '/', oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } } },
  );

async function bundle(app: string, options: BuildEnvironmentOptions & { outDir: string }, config: UserConfig) {
  try {
    await build({
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
