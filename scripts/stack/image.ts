/** Runs the steps of the Dockerfile outside a container, for machines without a Docker engine. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { Advice } from './advice.ts';
import { dataRoot, root } from './paths.ts';
import { lastLines } from './tether.ts';

/** Leaves in `app` what the image has below /app. `source`: another checkout; this one's packages are linked. */
export function rehearseImage(folder: string, source = root): { app: string; command: string[] } {
  let app = '';
  let command: string[] = [];
  const dockerfile = readFileSync(path.join(source, 'apps/Dockerfile'), 'utf8');
  for (const line of dockerfile.replaceAll('\\\n', ' ').split('\n')) {
    const [instruction, ...words] = line.trim().split(/\s+/);
    if (instruction === 'FROM') app = path.join(folder, words[2] ?? 'last');
    if (instruction === 'COPY') copy(words, app, { folder, source });
    if (instruction === 'RUN') runStep(words.join(' '), app, source);
    if (instruction === 'CMD') command = JSON.parse(words.join(' ')) as string[];
  }
  return { app, command };
}

/** As Docker has it: a folder's contents go into the destination, a file goes into a destination that ends with /. */
function copy(words: string[], app: string, { folder, source: checkout }: { folder: string; source: string }) {
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  const paths = words.filter((word) => !word.startsWith('--'));
  const destination = path.resolve('/app', paths.pop() ?? '.').replace(/^\/app\/?/, '');
  const intoFolder = words.at(-1)?.endsWith('/') ?? false;
  for (const source of paths) {
    const file = from ? path.join(folder, from, path.relative('/app', source)) : path.join(checkout, source);
    const isFile = statSync(file).isFile();
    const target = path.join(app, destination, isFile && intoFolder ? path.basename(file) : '');
    cpSync(file, target, { recursive: true, verbatimSymlinks: true });
  }
}

function runStep(command: string, cwd: string, source: string) {
  if (command !== 'npm ci' || source !== root) return run(command, cwd);
  run(`${command} --dry-run`, cwd);
  linkFolder(path.join(root, 'node_modules'), path.join(cwd, 'node_modules'));
  // source that was checked here is not checked again
  const types = path.join(dataRoot, 'types.tsbuildinfo');
  if (existsSync(types)) cpSync(types, path.join(cwd, '.data/types.tsbuildinfo'));
}

/** A copy without the cost of one: npm replaces files, but for its own list of them. */
export function linkFolder(from: string, to: string): void {
  // on another file system nothing can be linked
  const link = 'cp -al "$1" "$2" 2>/dev/null || { rm -rf "$2" && cp -a "$1" "$2"; }';
  const own =
    'for file in "$2"/.[!.]*; do test ! -f "$file" || { cp -a "$file" "$2/own" && mv "$2/own" "$file"; }; done';
  run(`${link}\n${own}`, root, from, to);
}

function run(command: string, cwd: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-ec', command, 'sh', ...args], { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Advice(`"${command}" failed:\n${lastLines(stdout + stderr, 20)}`);
}
