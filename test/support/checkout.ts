/** A copy of the checkout as a fresh clone is, with its own running `npm start`. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterAll, inject } from 'vitest';
import { z } from 'zod';
import { linkFolder } from '../../scripts/stack/image.ts';
import { dataRoot, root } from '../../scripts/stack/paths.ts';
import { reachableFolder } from '../../scripts/stack/service-user.ts';
import { type Exit, runCommand, spawnTethered } from '../../scripts/stack/tether.ts';
import { eventually } from './wait.ts';

const demo = z.object({ baseUrl: z.string(), organizationId: z.string(), domainId: z.string(), apiKey: z.string() });

export interface Checkout {
  /** what `npm start` printed */
  output: string;
  demo: z.infer<typeof demo>;
  databaseUrl: string;
  redisUrl: string;
  /** what it runs with, secrets too */
  settings: Record<string, string>;
  /** Runs a shell script in it; a command that fails ends the script. */
  shell(script: string, env?: Record<string, string>): Promise<{ code: number | null; output: string }>;
  /** As Ctrl-C does. */
  stop(): Promise<Exit>;
}

/** What a fresh clone does not have. */
const left = ['node_modules', '.data', '.git', 'dist'];

function copyCheckout(): string {
  // its Postgres then is in it, and goes with it
  const copy = reachableFolder(mkdtempSync(path.join(inject('folder'), 'checkout-')));
  for (const name of readdirSync(root))
    if (!left.includes(name)) cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
  linkFolder(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  // engines that were unpacked once need not be unpacked again
  mkdirSync(path.join(copy, '.data'), { mode: 0o711 });
  const packages = path.join(dataRoot, 'packages');
  if (existsSync(packages)) symlinkSync(packages, path.join(copy, '.data/packages'));
  // nor is source checked again that was when this run's processes were built
  const types = path.join(dataRoot, 'types.tsbuildinfo');
  if (existsSync(types)) cpSync(types, path.join(copy, '.data/types.tsbuildinfo'));
  return copy;
}

export async function startCheckout(): Promise<Checkout> {
  const cwd = copyCheckout();
  // a page that waits until something is sealed waits for this
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, SEAL_SECONDS: '1' };
  const start = spawnTethered('npm', ['start'], {
    cwd,
    env,
    stdout: 'pipe',
    stderr: 'pipe',
    stopSignal: 'SIGINT',
    stopDeadlineMs: 40_000,
  });
  afterAll(() => start.stop(), 60_000);
  let output = '';
  for (const stream of [start.child.stdout, start.child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const file = (name: string) => readFileSync(path.join(cwd, '.data', name), 'utf8');
  await eventually(
    () => {
      if (!output.includes('Ctrl-C stops it') && start.running())
        throw new Error(`npm start is not up yet:\n${output}`);
    },
    { within: 230_000 },
  );
  if (!start.running()) throw new Error(`npm start has ended:\n${output}`);
  const settings = Object.fromEntries(
    [...file('env').matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  return {
    output,
    demo: demo.parse(JSON.parse(file('demo.json'))),
    databaseUrl: z.string().parse(settings.DATABASE_URL),
    redisUrl: z.string().parse(settings.REDIS_URL),
    settings,
    shell: (script, extra = {}) => runCommand('/bin/sh', ['-c', script], { cwd, env: { ...env, ...extra } }),
    stop: () => start.stop(),
  };
}
