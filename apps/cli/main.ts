/** The operator's command line. */
import { fail, run } from './program.ts';
import { createTools } from './tools.ts';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // the reader has closed the pipe, as `head` does
  if (error.code === 'EPIPE') process.exit(0);
  process.exit(fail(`standard output: ${error.message}`));
});
process.exit(await run(createTools(process.env), process.argv.slice(2)));
