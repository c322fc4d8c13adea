/** The operator's command line. */
import { CommanderError } from 'commander';
import { visible } from '#libs/base/cli/visible';
import { createProgram } from './program.ts';
import { tools } from './tools.ts';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // who reads has seen enough, as `head` does
  if (error.code === 'EPIPE') process.exit(0);
  fail(`standard output: ${error.message}`);
});
try {
  await createProgram(tools).parseAsync();
  process.exit(process.exitCode ?? 0);
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode);
  fail(error instanceof Error ? error.message || error.name : String(error));
}

function fail(message: string): never {
  process.stderr.write(`${visible(message.split('\n')[0] ?? '')}\n`);
  process.exit(1);
}
