import { Command } from 'commander';
import { migrate } from '#libs/store/migrate';
import { readConfig } from './session.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the database up to date; safe beside running processes and other migrations')
    .action(async () => {
      const output = await migrate(readConfig().database().url);
      process.stdout.write(output || 'the database is up to date\n');
    });
}
