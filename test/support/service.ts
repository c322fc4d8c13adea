/** The real processes, each started from the build, on free ports. */
import path from 'node:path';
import { afterAll, inject } from 'vitest';
import { launch } from '../../scripts/stack/assent-process.ts';
import { type Exit, spawnTethered, type Tethered } from '../../scripts/stack/tether.ts';
import { eventually } from './wait.ts';

/** 32 bytes and more, for these processes alone. */
export const jwtSecret = 'a secret that only the tests of this project use';

export interface Service {
  process: Tethered;
  /** every line that it wrote, of both streams */
  lines: string[];
  /** the fields of the first log line with this message */
  logged(message: string): Promise<Record<string, unknown>>;
  stop(signal?: NodeJS.Signals): Promise<Exit>;
}

export function startProcess(main: string, env: Record<string, string>, args: string[] = []): Service {
  const { process: child, lines } = launch(inject('dist'), main, { PATH: process.env.PATH, ...env }, args);
  afterAll(() => child.stop());
  return {
    process: child,
    lines,
    logged: (message) =>
      eventually(
        () => {
          const found = lines.find((line) => line.includes(`"msg":"${message}"`));
          if (!found) throw new Error(`${main} did not log "${message}":\n${lines.slice(-20).join('\n')}`);
          return JSON.parse(found) as Record<string, unknown>;
        },
        { within: 20_000 },
      ),
    stop: (signal) => child.stop(signal),
  };
}

export interface Api extends Service {
  baseUrl: string;
  opsUrl: string;
}

export async function startApi(env: Record<string, string>): Promise<Api> {
  const ports = { PORT: '0', OPS_PORT: '0', HOST: '127.0.0.1' };
  const service = startProcess('api', { ...ports, JWT_SECRET: jwtSecret, RECORD_RATE_PER_MINUTE: '0', ...env });
  const { port, opsPort } = await service.logged('listening');
  return { ...service, baseUrl: `http://127.0.0.1:${port}`, opsUrl: `http://127.0.0.1:${opsPort}` };
}

export async function startWorker(env: Record<string, string>): Promise<Service & { opsUrl: string }> {
  const service = startProcess('worker', { OPS_PORT: '0', ...env });
  const { opsPort } = await service.logged('working');
  return { ...service, opsUrl: `http://127.0.0.1:${opsPort}` };
}

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs one command of the command line to its end. */
export const runCli = (env: Record<string, string>, ...args: string[]): Promise<CliResult> =>
  runCliIn(inject('folder'), env, ...args);

export async function runCliIn(cwd: string, env: Record<string, string>, ...args: string[]): Promise<CliResult> {
  const file = path.join(inject('dist'), 'apps/cli/main.js');
  const child = spawnTethered(process.execPath, [file, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const read = async (stream: NodeJS.ReadableStream | null) => {
    let text = '';
    if (stream) for await (const chunk of stream) text += String(chunk);
    return text;
  };
  const [stdout, stderr, { code }] = await Promise.all([
    read(child.child.stdout),
    read(child.child.stderr),
    child.exited,
  ]);
  return { code, stdout, stderr };
}
