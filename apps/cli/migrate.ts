import { Command } from 'commander';
import { migrate } from '#libs/store/migrate';
import type { AllTools } from './tools.ts';

export function migrateCommand(tools: AllTools): Command {
  return new Command('migrate')
    .description('migrate the database; safe while processes and other migrations run')
    .action(async () => {
      const say = (line: string) => process.stderr.write(`${line}\n`);
      const { database, moreCertificates, roles } = tools.config();
      const output = await migrate(database().url, { say, moreCertificates, roles: roles() });
      process.stdout.write(output || 'the database is up to date\n');
    });
}
