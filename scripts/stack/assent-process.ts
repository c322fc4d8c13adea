/** Starts one of our processes from a build, collects its output, and waits until it listens. */
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type CommandOptions, outputOf, spawnTethered } from './tether.ts';
import { waitUntil } from './wait.ts';

/** The default young generation (16 MB) copies most records. package.json, the image and compose set the same. */
export const nodeFlags = ['--max-semi-space-size=32'];

export type AssentProcess = Awaited<ReturnType<typeof startAssent>>;

/** `lines`: its output, unless a `logFile` is given. */
export function launch(dist: string, app: string, env: NodeJS.ProcessEnv, args: string[] = [], logFile?: string) {
  const main = path.join(dist, 'apps', app, 'main.js');
  const output = { stdout: 'pipe', stderr: 'pipe', logFile } as const;
  const options = { cwd: path.dirname(dist), env, stopDeadlineMs: 40_000, ...output };
  const child = spawnTethered(process.execPath, [...nodeFlags, main, ...args], options);
  const lines: string[] = [];
  for (const input of [child.child.stdout, child.child.stderr])
    if (input) createInterface({ input }).on('line', (line) => lines.push(line));
  return { process: child, lines };
}

/** The output of a command of the build. A failure is thrown with its last lines. */
export const runCli = (dist: string, args: string[], options: CommandOptions): Promise<string> =>
  outputOf(process.execPath, [path.join(dist, 'apps/cli/main.js'), ...args], { cwd: dist, ...options });

export const answersReady = (opsUrl: string): Promise<boolean> =>
  fetch(`${opsUrl}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );

/** Starts the API or the worker and waits for the line with its ports. The worker only has an operations port. */
export async function startAssent(dist: string, app: 'api' | 'worker', env: NodeJS.ProcessEnv) {
  const launched = launch(dist, app, env);
  const { lines, process: child } = launched;
  const message = app === 'api' ? '"event":"listening"' : '"event":"working"';
  const found = () => lines.find((line) => line.includes(message));
  const ready = await waitUntil(() => found() !== undefined || !child.running(), { deadlineMs: 120_000 });
  const line = found();
  if (!ready || !line) {
    await child.stop();
    throw new Error(`${app} did not start:\n${lines.slice(-10).join('\n')}`);
  }
  const port = (name: string) => new RegExp(`"${name}":(\\d+)`).exec(line)?.[1];
  return {
    ...launched,
    app,
    baseUrl: `http://127.0.0.1:${port('port')}`,
    opsUrl: `http://127.0.0.1:${port('opsPort')}`,
  };
}
