/**
 * The processes from their source: each is one file and what it loads on demand. A process that reads several hundred
 * files, ours and its packages', takes twice as long to start.
 */
import path from 'node:path';
import { build, type Plugin } from 'vite';
import { root } from './paths.ts';

const processes = ['api', 'worker', 'cli'];

/** They look for files of their own beside them. */
const apart = ['postgres', 'dbmate', '@bull-board/api', '@bull-board/koa'];

/** Below `outDir`, where the files that are read as they are lie as in the source. */
export async function buildProcesses(outDir: string): Promise<void> {
  const all = processes.map((app) => {
    const folder = path.join('apps', app);
    return build({
      configFile: false,
      envFile: false,
      publicDir: false,
      logLevel: 'error',
      root,
      plugins: [addressesOfSource(path.join(root, folder))],
      ssr: { target: 'node', noExternal: true, external: apart },
      build: {
        ssr: true,
        outDir: path.join(outDir, folder),
        emptyOutDir: false,
        target: 'node20',
        minify: false,
        rolldownOptions: {
          input: { main: path.join(root, folder, 'main.ts') },
          treeshake: false,
          // what seems unused may be called for what it throws
          output: {
            format: 'es',
            entryFileNames: '[name].js',
            chunkFileNames: '[name].js',
            keepNames: true,
            minify: false,
          },
        },
      },
    });
  });
  await Promise.all(all);
}

/** `import.meta.url` of each of our modules is that of its source, seen from `folder`, where the bundle lies. */
function addressesOfSource(folder: string): Plugin {
  return {
    name: 'addresses-of-source',
    enforce: 'pre',
    transform(code, id) {
      if (!code.includes('import.meta.url') || id.includes('node_modules')) return undefined;
      const source = path.relative(folder, id).split(path.sep).join('/');
      const address = `new URL(${JSON.stringify(`./${source}`)}, import.meta.url).href`;
      return { code: code.replaceAll('import.meta.url', address), map: null };
    },
  };
}
