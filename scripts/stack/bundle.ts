/** One bundle by Vite: what a process runs, what browsers load, or a package. */
import path from 'node:path';
import { type BuildEnvironmentOptions, type UserConfig, build as vite } from 'vite';
import { Advice, describe } from './advice.ts';
import { root } from './paths.ts';

export async function bundle(
  app: string,
  options: BuildEnvironmentOptions & { outDir: string },
  config: UserConfig,
): Promise<void> {
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
