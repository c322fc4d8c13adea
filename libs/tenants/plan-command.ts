import { Command, InvalidArgumentError } from 'commander';
import { find, print, printList } from '#libs/base/cli/session';
import { administer, type TenantTools } from './administer.ts';
import { directory } from './directory.ts';

const flag = (text: string): boolean => {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('true or false');
  return text === 'true';
};

/** Not null, which commander would turn into an empty string. */
const limit = (text: string): number | 'none' => {
  if (text === 'none') return text;
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('a whole number, or none');
  return Number(text);
};

interface SetOptions {
  consentLog?: boolean;
  monthlyLimit?: number | 'none';
}

export function planCommand(tools: TenantTools): Command {
  const command = new Command('plan').description(
    'plans: whether the log may be read, and for how many records a month',
  );
  command
    .command('set <name>')
    .description('create or change a plan; omitted options keep their value (initially: log true, limit none)')
    .option('--consent-log <true|false>', 'whether the log may be read', flag)
    .option('--monthly-limit <n|none>', 'records a month beyond which the log shows only the newest 10', limit)
    .action(async (name: string, { consentLog, monthlyLimit }: SetOptions, self: Command) => {
      const plan = await administer(tools, (admin) =>
        admin.setPlan(name, {
          ...(consentLog !== undefined && { consentLog }),
          ...(monthlyLimit !== undefined && { monthlyRecordLimit: monthlyLimit === 'none' ? null : monthlyLimit }),
        }),
      );
      print(self, { ...plan });
    });
  command
    .command('list')
    .description('list plans')
    .action(async (_: object, self: Command) => {
      printList(self, 'plans', await tools.database((db) => db.run(directory.plans)));
    });
  command
    .command('show <name>')
    .description('show one plan')
    .action(async (name: string, _: object, self: Command) => {
      print(self, find(await tools.database((db) => db.run(directory.plans)), 'name', name, 'plan'));
    });
  return command;
}
