/**
 * Runs the steps of the Dockerfile outside a container: the same copies into an empty folder, the same commands, and at
 * the end only what the last stage takes. For machines without a Docker engine.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { Advice } from './advice.ts';
import { lastLines } from './command.ts';
import { dataRoot, root } from './paths.ts';

interface Step {
  instruction: string;
  words: string[];
}

interface Stage {
  name: string;
  steps: Step[];
}

export function readStages(dockerfile: string): Stage[] {
  const stages: Stage[] = [];
  for (const line of dockerfile.replaceAll('\\\n', ' ').split('\n')) {
    const [instruction = '', ...words] = line.trim().split(/\s+/);
    if (instruction === '' || instruction.startsWith('#')) continue;
    if (instruction === 'FROM') stages.push({ name: words[2] ?? 'last', steps: [] });
    else stages.at(-1)?.steps.push({ instruction, words });
  }
  return stages;
}

interface Source {
  /** what is copied from: a checkout */
  source: string;
  /** `linked`: `npm ci` is rehearsed; npm compares the copied files, and the packages are those of this checkout */
  packages: 'linked' | 'installed';
}

/** Leaves in `folder`/last what the image would hold below /app. Returns that folder and the image's command. */
export function rehearseImage(
  folder: string,
  { source, packages }: Source = { source: root, packages: 'linked' },
): { app: string; command: string[] } {
  const stages = readStages(readFileSync(path.join(source, 'apps/Dockerfile'), 'utf8'));
  let command: string[] = [];
  for (const stage of stages) {
    const app = path.join(folder, stage.name);
    mkdirSync(app, { recursive: true });
    for (const { instruction, words } of stage.steps) {
      if (instruction === 'COPY') copy(words, app, { folder, source });
      if (instruction === 'RUN') runStep(words.join(' '), app, packages);
      if (instruction === 'CMD') command = JSON.parse(words.join(' ')) as string[];
    }
  }
  return { app: path.join(folder, stages.at(-1)?.name ?? 'last'), command };
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

function runStep(command: string, cwd: string, packages: Source['packages']) {
  if (command !== 'npm ci' || packages === 'installed') return run(command, cwd);
  run(`${command} --dry-run`, cwd);
  linkFolder(path.join(root, 'node_modules'), path.join(cwd, 'node_modules'));
  // source that was checked here is not checked again
  const types = path.join(dataRoot, 'types.tsbuildinfo');
  if (existsSync(types)) cpSync(types, path.join(cwd, '.data/types.tsbuildinfo'));
}

/** As `cpSync`, without copying what no step writes: npm replaces files, except for its own list of them. */
export function linkFolder(from: string, to: string): void {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) linkFolder(source, target);
    else if (entry.isSymbolicLink()) cpSync(source, target, { verbatimSymlinks: true });
    else if (entry.name.startsWith('.')) copyFileSync(source, target);
    else linkOrCopy(source, target);
  }
}

/** On another file system nothing can be linked. */
function linkOrCopy(source: string, target: string) {
  try {
    linkSync(source, target);
  } catch {
    copyFileSync(source, target);
  }
}

function run(command: string, cwd: string) {
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Advice(`"${command}" failed:\n${lastLines(stdout + stderr, 20)}`);
}
