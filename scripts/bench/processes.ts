/** The bench's own programs: the load generator and the references. They come from this checkout's build. */
import path from 'node:path';
import { createInterface } from 'node:readline';
import { nodeFlags } from '../stack/assent-process.ts';
import { outputOf } from '../stack/command.ts';
import { root } from '../stack/paths.ts';
import { spawnTethered } from '../stack/tether.ts';
import type { Load, LoadResult } from './client.ts';

export interface Server {
  pid: number;
  baseUrl: string;
  stop(): Promise<unknown>;
}

export type Programs = ReturnType<typeof programsIn>;
export type RunningLoad = ReturnType<Programs['startLoad']>;

export function programsIn(dist: string) {
  const options = { cwd: root, env: { PATH: process.env.PATH } };
  const commandOf = (name: string, input: object) => [
    ...nodeFlags,
    path.join(dist, 'scripts/bench', `${name}.js`),
    JSON.stringify(input),
  ];
  const spawn = (name: string, input: object) =>
    spawnTethered(process.execPath, commandOf(name, input), { ...options, stdout: 'pipe', stderr: 'inherit' });

  function startLoad(load: Load) {
    const { child, pid, running, stop } = spawn('client', load);
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const result = new Promise((resolve) => child.once('close', resolve)).then((): LoadResult => JSON.parse(output));
    // who stops a load does not wait for its result
    result.catch(() => {});
    const signal = (name: NodeJS.Signals) => void (running() && child.kill(name));
    return { pid, pause: () => signal('SIGSTOP'), resume: () => signal('SIGCONT'), result, stop };
  }

  return {
    startLoad,
    /** Rejects when any request failed. */
    load: async (load: Load): Promise<LoadResult> => {
      const result = await startLoad(load).result;
      if (result.failed > 0) throw new Error(`${result.failed} requests to ${load.baseUrl} failed`);
      return result;
    },
    /** Starts a server under the same flags as Assent's own processes, and waits for its first line. */
    startServer: async (name: string, input: object): Promise<Server> => {
      const { child, pid, stop } = spawn(name, input);
      for await (const line of child.stdout ? createInterface({ input: child.stdout }) : []) {
        return { pid, baseUrl: `http://127.0.0.1:${/"port":(\d+)/.exec(line)?.[1]}`, stop };
      }
      throw new Error(`${name} ended before it was ready`);
    },
    run: async <Result>(name: string, input: object): Promise<Result> =>
      JSON.parse(await outputOf(process.execPath, commandOf(name, input), options)),
  };
}
