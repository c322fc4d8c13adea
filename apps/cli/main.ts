/** The operator's command line. */
import { Command, CommanderError } from 'commander';
import { version } from '#libs/runtime/version';
import { actsCommand } from './acts.ts';
import { countersCommand } from './counters.ts';
import { domainCommand } from './domain.ts';
import { keyCommand } from './key.ts';
import { logCommand } from './log.ts';
import { migrateCommand } from './migrate.ts';
import { noticeCommand } from './notice.ts';
import { orgCommand } from './org.ts';
import { planCommand } from './plan.ts';
import { queueCommand } from './queue.ts';
import { recordsCommand } from './records.ts';
import { tokenCommand } from './token.ts';
import { visible } from './visible.ts';
import { visitorCommand } from './visitor.ts';
import { webhookCommand } from './webhook.ts';

const program = new Command('assent')
  .description('Runs an Assent installation: tenants, keys, tokens, queue and counters.')
  .version(version)
  .option('--json', 'print one JSON object, for machines')
  .configureOutput({
    outputError: (text, write) =>
      write(
        `${visible(
          text
            .replace(/^error: /, '')
            .trim()
            .replaceAll('\n', ' '),
        )} (see --help)\n`,
      ),
  })
  .configureHelp({ showGlobalOptions: true })
  .exitOverride();

const nouns = [
  planCommand,
  orgCommand,
  domainCommand,
  keyCommand,
  tokenCommand,
  recordsCommand,
  noticeCommand,
  visitorCommand,
  webhookCommand,
  logCommand,
  queueCommand,
  countersCommand,
  actsCommand,
  migrateCommand,
];
for (const command of nouns) program.addCommand(inherit(command()));

function inherit(command: Command): Command {
  command.copyInheritedSettings(program).exitOverride();
  for (const child of command.commands) inherit(child);
  return command;
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // who reads has seen enough, as `head` does
  if (error.code === 'EPIPE') process.exit(0);
  fail(`standard output: ${error.message}`);
});
try {
  await program.parseAsync();
  process.exit(process.exitCode ?? 0);
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode);
  fail(error instanceof Error ? error.message || error.name : String(error));
}

function fail(message: string): never {
  process.stderr.write(`${visible(message.split('\n')[0] ?? '')}\n`);
  process.exit(1);
}
