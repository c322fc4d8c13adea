import path from 'node:path';
import type { z } from 'zod';
import { Advice } from '../stack/advice.ts';
import { lastLines, runCommand } from '../stack/command.ts';
import { root } from '../stack/paths.ts';

export interface Cli {
  /** Runs a command of the command line; what goes wrong there is one line, and an Advice here. */
  run(...args: string[]): Promise<string>;
  /** The same with --json, checked. */
  json<T>(schema: z.ZodType<T>, ...args: string[]): Promise<T>;
}

export function createCli(env: NodeJS.ProcessEnv, signal: AbortSignal): Cli {
  const main = path.join(root, 'dist/apps/cli/main.js');
  async function run(...args: string[]) {
    const { code, stdout, output } = await runCommand(process.execPath, [main, ...args], { cwd: root, env, signal });
    if (code !== 0) throw new Advice(`assent ${args.join(' ')}: ${lastLines(output, 6)}`);
    return stdout;
  }
  return {
    run,
    json: async (schema, ...args) => schema.parse(JSON.parse(await run(...args, '--json'))),
  };
}
