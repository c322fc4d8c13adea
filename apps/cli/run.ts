/** Runs one command, and says what went wrong in one line on standard error. */
import { CommanderError } from 'commander';
import { visible } from '#libs/base/cli/visible';
import { createProgram } from './program.ts';
import type { AllTools } from './tools.ts';

/** Returns the exit code of a process that runs this command alone. */
export async function run(tools: AllTools, args: string[]): Promise<number> {
  try {
    await createProgram(tools).parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    return fail(error instanceof Error ? error.message || error.name : String(error));
  }
}

export function fail(message: string): number {
  process.stderr.write(`${visible(message.split('\n')[0] ?? '')}\n`);
  return 1;
}
