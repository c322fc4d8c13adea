/** The files that other websites load, each on its own and minified, by Vite. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { build, type Rolldown } from 'vite';
import { Advice, describe } from './advice.ts';
import { root } from './paths.ts';

/** Output → source below apps/widget. The first two are plain scripts, the others modules. */
const entries = [
  { name: 'widget', source: 'main.ts', format: 'iife' },
  { name: 'consent-mode', source: 'consent-mode.ts', format: 'iife' },
  { name: 'record-client', source: 'record-client.ts', format: 'es' },
  { name: 'record-cookieconsent', source: 'adapters/vanilla-cookieconsent.ts', format: 'es' },
  { name: 'record-klaro', source: 'adapters/klaro.ts', format: 'es' },
] as const;

/** Browsers of 2023 and newer: dialogs, constructed style sheets and `AbortSignal.timeout` are in all of them. */
const browsers = ['chrome111', 'firefox114', 'safari16.4'];

export async function buildWidget(outDir: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
  try {
    for (const entry of entries) await bundle(entry, outDir, version);
  } catch (error) {
    throw new Advice(`The widget does not build.\n${describe(error)}`);
  }
}

function bundle({ name, source, format }: (typeof entries)[number], outDir: string, version: string) {
  const output: Rolldown.OutputOptions = { format, entryFileNames: `${name}.js` };
  return build({
    configFile: false,
    envFile: false,
    publicDir: false,
    logLevel: 'error',
    root: path.join(root, 'apps/widget'),
    define: { __VERSION__: JSON.stringify(version) },
    build: {
      outDir,
      emptyOutDir: false,
      target: browsers,
      modulePreload: false,
      rolldownOptions: {
        input: path.join(root, 'apps/widget', source),
        preserveEntrySignatures: 'strict',
        output,
      },
    },
  });
}
