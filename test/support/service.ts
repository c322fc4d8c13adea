/** The real processes, each started from the build, on free ports. */
import path from 'node:path';
import { inject } from 'vitest';
import { launch } from '../../scripts/stack/assent-process.ts';
import { type Exit, spawnTethered, type Tethered } from '../../scripts/stack/tether.ts';
import { atEnd } from './at-end.ts';
import { apiSettings, privacyKey, secretsKey } from './settings.ts';
import { eventually } from './wait.ts';

export interface Service {
  process: Tethered;
  /** every line that it wrote, of both streams */
  lines: string[];
  /** the fields of each log line of this event so far */
  events(event: string): Record<string, unknown>[];
  /** the fields of the first log line of this event, once it is there */
  logged(event: string): Promise<Record<string, unknown>>;
  stop(signal?: NodeJS.Signals): Promise<Exit>;
}

export function startProcess(main: string, env: Record<string, string>, args: string[] = []): Service {
  const { process: child, lines } = launch(inject('dist'), main, { PATH: process.env.PATH, ...env }, args);
  atEnd(() => {
    child.kill();
    return child.exited;
  });
  const events = (event: string) =>
    lines
      .filter((line) => line.includes(`"event":"${event}"`))
      .map((line): Record<string, unknown> => JSON.parse(line));
  return {
    process: child,
    lines,
    events,
    logged: (event) =>
      eventually(
        () => {
          const [found] = events(event);
          if (!found) throw new Error(`${main} did not log "${event}":\n${lines.slice(-20).join('\n')}`);
          return found;
        },
        { within: 50_000 },
      ),
    stop: (signal) => child.stop(signal),
  };
}

export interface Addresses {
  baseUrl: string;
  opsUrl: string;
}

export interface Api extends Service, Addresses {}

export async function startApi(env: Record<string, string>): Promise<Api> {
  const service = startProcess('api', { ...apiSettings, ...env });
  const { port, opsPort } = await service.logged('listening');
  const ops = opsPort ?? opsPortOfPrimary(service.lines);
  return { ...service, baseUrl: `http://127.0.0.1:${port}`, opsUrl: `http://127.0.0.1:${ops}` };
}

/** Of several processes the first serves the operations port, and tells it before it starts the others. */
function opsPortOfPrimary(lines: string[]): number {
  const line = lines.find((each) => each.includes('"msg":"forking"'));
  return (JSON.parse(line ?? '{}') as { opsPort: number }).opsPort;
}

export async function startWorker(env: Record<string, string>): Promise<Service & { opsUrl: string }> {
  const service = startProcess('worker', { OPS_PORT: '0', PRIVACY_KEY: privacyKey, SECRETS_KEY: secretsKey, ...env });
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
    env: { PATH: process.env.PATH, PRIVACY_KEY: privacyKey, SECRETS_KEY: secretsKey, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const read = async (stream: NodeJS.ReadableStream | null) => {
    let text = '';
    stream?.setEncoding('utf8');
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
