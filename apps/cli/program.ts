/** All commands, and how one of them runs. The test of the documents reads their names and flags from here. */
import { Command, CommanderError } from 'commander';
import { bannerCommand } from '#libs/banner/commands';
import { isJson, print } from '#libs/base/cli/session';
import { visible } from '#libs/base/cli/visible';
import { migrate } from '#libs/base/db/migrate';
import { version } from '#libs/base/version';
import { recordsCommand } from '#libs/log/commands';
import { noticeCommand } from '#libs/notices/commands';
import { personCommand, setupCommand } from '#libs/people/commands';
import { endSessionsIn } from '#libs/people/sessions';
import { visitorCommand } from '#libs/privacy/commands';
import { logCommand } from '#libs/proof/commands';
import { queueCommand } from '#libs/record/commands';
import { countersCommand } from '#libs/stats/commands';
import { statsCommand } from '#libs/stats/stats-command';
import { domainCommand, keyCommand } from '#libs/tenants/domain-commands';
import { actsCommand, orgCommand, planCommand } from '#libs/tenants/organization-commands';
import { tokenCommand } from '#libs/tenants/token-commands';
import { webhookCommand } from '#libs/webhooks/commands';
import { orgDeleteCommand } from './org-delete.ts';
import type { AllTools } from './tools.ts';

const nouns = [
  planCommand,
  (tools: AllTools) => orgCommand(tools, { deletion: orgDeleteCommand(tools), endSessions: endSessionsIn }),
  personCommand,
  domainCommand,
  keyCommand,
  tokenCommand,
  recordsCommand,
  noticeCommand,
  bannerCommand,
  visitorCommand,
  webhookCommand,
  logCommand,
  queueCommand,
  countersCommand,
  statsCommand,
  actsCommand,
  migrateCommand,
  setupCommand,
];

function migrateCommand(tools: AllTools): Command {
  return new Command('migrate')
    .description('migrate the database; safe while processes and other migrations run')
    .action(async (_: object, self: Command) => {
      const say = (line: string) => process.stderr.write(`${line}\n`);
      const { database, roles } = tools.config();
      const output = await migrate(database().url, { say, roles: roles() });
      if (isJson(self)) print(self, { done: output.split('\n').filter((line) => line !== '') });
      else process.stdout.write(output || 'the database is up to date\n');
    });
}

export function createProgram(tools: AllTools): Command {
  const program = new Command('assent')
    .description('Runs an Assent installation: tenants, keys, tokens, queue and counters.')
    .version(version)
    .option('--json', 'print one JSON object, for machines')
    .option(
      '--actor <name>',
      'your name for the administrative acts, if your system user has none; with `acts`, a filter',
    )
    .hook('preAction', (_, command) =>
      tools.actAs(command.name() === 'acts' ? undefined : command.optsWithGlobals().actor),
    )
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
  const inherit = (command: Command): Command => {
    command.copyInheritedSettings(program).exitOverride();
    for (const child of command.commands) inherit(child);
    return command;
  };
  for (const command of nouns) program.addCommand(inherit(command(tools)));
  return program;
}

/** Runs one command and returns the exit code. An error is one line on standard error. */
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
