import { Command } from 'commander';
import { isJson, print } from '#libs/base/cli/session';
import { migrate } from '#libs/base/db/migrate';
import type { AllTools } from './tools.ts';

export function migrateCommand(tools: AllTools): Command {
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
