/** Builds the npm package `@assent/client`. It has no dependencies: types and libraries are bundled. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Advice } from './advice.ts';
import { bundle } from './bundle.ts';
import { contractTypes } from './contract-types.ts';
import { root } from './paths.ts';
import { lastLines, runCommand } from './tether.ts';

const source = path.join(root, 'libs/client');
/** The source files of each entry's types. Declarations in other files of the list are not repeated. */
const entries = {
  assent: ['assent-error', 'webhook', 'proof', 'assent'],
  react: ['react'],
};
/** Bundled, so that they are no dependencies. */
const bundled = ['@noble/ed25519', '@noble/hashes'];

export async function buildClient(outDir: string): Promise<void> {
  mkdirSync(outDir, { recursive: true });
  await Promise.all([bundleCode(outDir), writeTypes(outDir)]);
  const { version, license, engines } = JSON.parse(read('package.json'));
  const file = {
    name: '@assent/client',
    version,
    description: 'Records consent decisions with Assent, and reads them back.',
    license,
    type: 'module',
    sideEffects: false,
    // for tools that do not support `exports`
    main: './assent.js',
    types: './assent.d.ts',
    exports: {
      '.': { types: './assent.d.ts', default: './assent.js' },
      './react': { types: './react.d.ts', default: './react.js' },
      './package.json': './package.json',
    },
    engines,
    peerDependencies: { react: '>=18' },
    peerDependenciesMeta: { react: { optional: true } },
  };
  writeFileSync(path.join(outDir, 'package.json'), `${JSON.stringify(file, null, 2)}\n`);
  // the package does not contain the other pages
  const readme = read('docs/client.md').replaceAll(/\[([^\]]+)\]\((?!https?:|#)[^)]*\)/g, '$1');
  writeFileSync(path.join(outDir, 'README.md'), readme);
  const licences = bundled.map((name) => `${name}:\n\n${read(`node_modules/${name}/LICENSE`)}`);
  writeFileSync(path.join(outDir, 'LICENSE'), [read('LICENSE'), ...licences].join('\n---\n\n'));
}

const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

const bundleCode = (outDir: string): Promise<void> =>
  bundle(
    'client',
    {
      outDir,
      target: 'es2022',
      minify: false,
      lib: {
        entry: Object.fromEntries(Object.keys(entries).map((name) => [name, path.join(source, `${name}.ts`)])),
        formats: ['es'],
      },
      rolldownOptions: { external: ['react'], output: { chunkFileNames: '[name].js' } },
    },
    { root: source },
  );

/** One file for each entry, without imports from our own modules. */
async function writeTypes(outDir: string): Promise<void> {
  const made = mkdtempSync(path.join(outDir, 'types-'));
  const flags = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--noCheck', '--rootDir', root];
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  const { code, output } = await runCommand(process.execPath, [tsc, '-p', source, ...flags, '--outDir', made], {
    cwd: root,
  });
  if (code !== 0) throw new Advice(`The client has no types.\n${lastLines(output, 40)}`);
  for (const [entry, files] of Object.entries(entries)) {
    const texts = files.map((file) => readFileSync(path.join(made, 'libs/client', `${file}.d.ts`), 'utf8'));
    const shown = exportsOf(texts.at(-1) ?? '');
    const own = texts.map((text) => text.replaceAll(moved, '').replaceAll(/^export (?=\w)/gm, ''));
    const contract = entry === 'assent' ? [contractTypes()] : [];
    const outside = texts.flatMap((text) => text.match(/^import .* from '[^.#'].*$/gm) ?? []);
    const all = [...outside, ...own, ...contract, `export { ${shown.join(', ')} };\n`];
    writeFileSync(path.join(outDir, `${entry}.d.ts`), all.join('\n'));
  }
  rmSync(made, { recursive: true });
}

/** Imports, and exports of declarations elsewhere in the same file. */
const moved = /^(?:import .*|export (?:type )?\{.*\}.*);\n/gm;

/** The names that a declaration file exports. */
function exportsOf(text: string): string[] {
  const declared = text.matchAll(/^export (?:declare )?(?:class|const|function|interface|type) (\w+)/gm);
  const listed = text.matchAll(/^export (?:type )?\{(.*)\}/gm);
  return [...declared, ...[...listed].flatMap(([, names = '']) => [...names.matchAll(/(\w+)/g)])].flatMap(
    ([, name]) => name ?? [],
  );
}
