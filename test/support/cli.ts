/** The command line as an operator's script uses it. */
import { expect } from 'vitest';
import { runCli } from './run-cli.ts';

export function createCli(env: Record<string, string>) {
  const run = (...args: string[]) => runCli(env, ...args);
  return {
    run,
    /** with `--json`: one object on standard output, and nothing else anywhere */
    json: async <T>(...args: string[]): Promise<T> => {
      const { code, stdout, stderr } = await run(...args, '--json');
      expect({ args, code, stderr, lines: stdout.split('\n').length }).toEqual({ args, code: 0, stderr: '', lines: 2 });
      return JSON.parse(stdout) as T;
    },
    /** one line on standard error, exit 1, and nothing else anywhere; returns the line */
    error: async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await run(...args);
      expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
      expect(stderr).toMatch(/^[^\n]+\n$/);
      return stderr.trimEnd();
    },
  };
}

export type Cli = ReturnType<typeof createCli>;
