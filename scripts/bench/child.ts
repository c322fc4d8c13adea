/** The bench's own processes, from the build: references and clients that must not share a process with the bench. */
import path from 'node:path';
import { createInterface } from 'node:readline';
import { lastLines, runCommand } from '../stack/command.ts';
import { nodeFlags } from '../stack/node-flags.ts';
import { root } from '../stack/paths.ts';
import { spawnTethered } from '../stack/tether.ts';

const environment = { PATH: process.env.PATH };
const fileOf = (dist: string, name: string) => path.join(dist, 'scripts/bench', `${name}.js`);

export interface Server {
  pid: number;
  /** where it listens, if it does */
  baseUrl: string;
  stop(): Promise<unknown>;
}

/** Starts one that goes on, under the same flags as Assent's own processes, and waits for its first line. */
export async function startChild(dist: string, name: string, argument: string): Promise<Server> {
  const { child, pid, stop } = spawnTethered(process.execPath, [...nodeFlags, fileOf(dist, name), argument], {
    cwd: root,
    env: environment,
    stdout: 'pipe',
    stderr: 'inherit',
  });
  if (child.stdout) {
    for await (const line of createInterface({ input: child.stdout })) {
      const port = /"port":(\d+)/.exec(line)?.[1];
      return { pid, baseUrl: `http://127.0.0.1:${port}`, stop: () => stop() };
    }
  }
  throw new Error(`${name} ended before it was ready`);
}

/** Runs one to its end and gives back the object that it printed. */
export async function runChild<Result>(dist: string, name: string, input: object): Promise<Result> {
  const args = [fileOf(dist, name), JSON.stringify(input)];
  const { code, stdout, output } = await runCommand(process.execPath, args, { cwd: root, env: environment });
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${lastLines(output, 5)}`);
  return JSON.parse(stdout) as Result;
}
