import { Command, InvalidArgumentError } from 'commander';
import { directory } from '#libs/store/tenants/administration';
import { find, print, printList, withDatabase } from './session.ts';

const flag = (text: string): boolean => {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('true or false');
  return text === 'true';
};

/** Not null: commander would make an empty string of it. */
const limit = (text: string): number | 'none' => {
  if (text === 'none') return text;
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('a whole number, or none');
  return Number(text);
};

interface SetOptions {
  consentLog?: boolean;
  monthlyLimit?: number | 'none';
}

export function planCommand(): Command {
  const command = new Command('plan').description('plans: may the log be read, and up to how many records a month');
  command
    .command('set <name>')
    .description('make a plan, or change one; what is not given stays (at first: log true, limit none)')
    .option('--consent-log <true|false>', 'may the log be read', flag)
    .option('--monthly-limit <n|none>', 'records a month after which the log shows only its newest 10', limit)
    .action(async (name: string, { consentLog, monthlyLimit }: SetOptions, self: Command) => {
      const plan = await withDatabase((_, admin) =>
        admin.setPlan(name, {
          ...(consentLog !== undefined && { consentLog }),
          ...(monthlyLimit !== undefined && { monthlyRecordLimit: monthlyLimit === 'none' ? null : monthlyLimit }),
        }),
      );
      print(self, { ...plan });
    });
  command.command('list').action(async (_: object, self: Command) => {
    printList(self, 'plans', await withDatabase((db) => db.run(directory.plans)));
  });
  command.command('show <name>').action(async (name: string, _: object, self: Command) => {
    print(self, find(await withDatabase((db) => db.run(directory.plans)), 'name', name, 'plan'));
  });
  return command;
}
