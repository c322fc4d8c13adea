/** The command line, as a user calls it. */
import { type ChildProcess, execFile, fork } from 'node:child_process';
import path from 'node:path';
import { inject } from 'vitest';
import { privacyKey, secretsKey } from './settings.ts';

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** One for all files of this vitest worker, with which it ends. */
let runner: ChildProcess | undefined;
const waiting = new Map<number, (result: CliResult) => void>();
let count = 0;

const mainFile = () => path.join(inject('dist'), 'apps/cli/main.js');

function startRunner(): ChildProcess {
  const file = path.join(import.meta.dirname, 'cli-runner.mjs');
  const started = fork(file, [mainFile()], { stdio: 'ignore', execArgv: [] });
  started.on('message', ({ id, ...result }: CliResult & { id: number }) => {
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  started.on('exit', (code) => {
    runner = undefined;
    for (const end of waiting.values()) end({ code, stdout: '', stderr: 'the process of commands ended' });
    waiting.clear();
  });
  started.unref();
  started.channel?.unref();
  return started;
}

const runApart = (cwd: string, env: NodeJS.ProcessEnv, args: string[]): Promise<CliResult> =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, [mainFile(), ...args], { cwd, env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });

/** Runs one command to its end, after those that were given before. */
export const runCli = (env: Record<string, string>, ...args: string[]): Promise<CliResult> =>
  runCliIn(inject('folder'), env, ...args);

export function runCliIn(cwd: string, env: Record<string, string>, ...args: string[]): Promise<CliResult> {
  const settings = { PATH: process.env.PATH, PRIVACY_KEY: privacyKey, SECRETS_KEY: secretsKey, ...env };
  // Node reads its own settings when it starts
  if (Object.keys(env).some((name) => name.startsWith('NODE_'))) return runApart(cwd, settings, args);
  runner ??= startRunner();
  const to = runner;
  return new Promise((resolve) => {
    count += 1;
    waiting.set(count, resolve);
    to.send({ id: count, args, cwd, env: settings });
  });
}
