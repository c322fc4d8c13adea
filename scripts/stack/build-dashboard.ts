/** The dashboard by Vite: one page, and its script and style under names that hold their content's hash. */
import path from 'node:path';
import { build } from 'vite';
import { Advice, describe } from './advice.ts';
import { root } from './paths.ts';

/** Browsers of 2024 and newer: `light-dark()` and `AbortSignal.any` are in all of them. */
const browsers = ['chrome123', 'firefox124', 'safari17.5'];

export async function buildDashboard(outDir: string): Promise<void> {
  try {
    await build({
      configFile: false,
      envFile: false,
      publicDir: false,
      logLevel: 'error',
      root: path.join(root, 'apps/dashboard'),
      base: '/',
      oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
      build: {
        outDir,
        emptyOutDir: false,
        target: browsers,
        cssTarget: browsers,
        modulePreload: false,
        // the policy allows no data: addresses
        assetsInlineLimit: 0,
      },
    });
  } catch (error) {
    throw new Advice(`The dashboard does not build.\n${describe(error)}`);
  }
}
