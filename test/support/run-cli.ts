/** The command line, as a user calls it: in the test's own process, or, for what that has not, from the build. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { inject } from 'vitest';
import { run } from '../../apps/cli/program.ts';
import { createTools } from '../../apps/cli/tools.ts';
import { privacyKey, secretsKey } from './settings.ts';

interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

process.stdout.setMaxListeners(0);

let last: Promise<unknown> = Promise.resolve();

/** Runs one command to its end, after those that were given before: they share this process's output and folder. */
export const runCli = (env: Record<string, string>, ...args: string[]): Promise<CliResult> =>
  runCliIn(inject('folder'), env, ...args);

export function runCliIn(cwd: string, env: Record<string, string>, ...args: string[]): Promise<CliResult> {
  const settings = { PATH: process.env.PATH, PRIVACY_KEY: privacyKey, SECRETS_KEY: secretsKey, ...env };
  // Node reads its own settings when it starts, and the widget's files are beside the built command line alone
  const isForNode = Object.keys(env).some((name) => name.startsWith('NODE_'));
  if (isForNode || readsWidget(args)) return runBuilt(cwd, settings, args);
  const running = last.then(() => runHere(cwd, settings, args));
  last = running.catch(() => {});
  return running;
}

const readsWidget = ([noun, verb]: string[]): boolean => verb === 'show' && (noun === 'domain' || noun === 'banner');

async function runHere(cwd: string, env: NodeJS.ProcessEnv, args: string[]): Promise<CliResult> {
  const before = process.cwd();
  process.chdir(cwd);
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  try {
    return { code: await run(createTools(env), args), stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    stdout.end();
    stderr.end();
    process.exitCode = undefined;
    process.chdir(before);
  }
}

/** What is written to a stream from now on, instead of to its file. */
function capture(stream: NodeJS.WriteStream) {
  const written: Buffer[] = [];
  const { write } = stream;
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    written.push(Buffer.from(chunk));
    const done = rest.at(-1);
    if (typeof done === 'function') process.nextTick(done);
    return true;
  };
  return {
    text: () => Buffer.concat(written).toString(),
    end: () => {
      stream.write = write;
    },
  };
}

const runBuilt = (cwd: string, env: NodeJS.ProcessEnv, args: string[]): Promise<CliResult> =>
  new Promise((resolve) => {
    const main = path.join(inject('dist'), 'apps/cli/main.js');
    const child = execFile(process.execPath, [main, ...args], { cwd, env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
