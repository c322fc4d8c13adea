import { Command } from 'commander';
import { isJson, print, printList, type Tools } from '#libs/base/cli/session';
import { wholeNumber } from '#libs/base/cli/whole-number';
import { checkCommand } from './check-command.ts';
import { confirmCommand } from './confirm-command.ts';
import { findLog } from './published.ts';
import { restartCommand } from './restart-command.ts';
import { listLogStatus, sealingLag } from './status.ts';
import { verifyCommand } from './verify-command.ts';

/** What to do about halted logs. */
const advice = {
  behind:
    'behind: Postgres lacks entries that were signed. Restore a newer copy, or: assent log restart DOMAIN | --all-behind',
  unconfirmed:
    'unconfirmed: Postgres is another server, and so is Redis, or it remembers nothing. If entries may be missing: assent log restart DOMAIN. If not: assent log confirm',
};

export function logCommand(tools: Tools<{ actor: string; logName(): string }>): Command {
  const command = new Command('log').description('the sealed log: what proves a record');
  command
    .command('key <domain>')
    .description('the keys that verify its checkpoints, newest first')
    .option('--log <n>', 'which of its logs, after a restart; default: the newest', wholeNumber())
    .action(async (domainId: string, { log }: { log?: number }, self: Command) => {
      const found = await tools.database((db) =>
        db.run(async (sql) => {
          const [domain] = await sql`select from domains where id = ${domainId}`;
          if (!domain) throw new Error(`no domain ${domainId}`);
          return findLog(sql, domainId, log);
        }),
      );
      if (!found) throw new Error(nothingSealed(domainId, log));
      const { verifierKeys } = found;
      if (isJson(self)) print(self, { verifierKeys });
      else process.stdout.write(verifierKeys.map((key) => `${key}\n`).join(''));
    });
  command
    .command('status')
    .description('the newest log of each domain, how far it is sealed, and whether it is halted')
    .action(async (_: object, self: Command) => {
      const [logs, lag] = await tools.database((db) =>
        db.run(async (sql) => [await listLogStatus(sql), await sealingLag(sql)] as const),
      );
      if (isJson(self)) {
        const rows = logs.map((log) => ({ ...log, behind: log.halted === 'behind' }));
        return printList(self, 'logs', rows);
      }
      const rows = logs.map((log) => ({ ...log }));
      printList(self, 'logs', rows, 'nothing is sealed yet');
      const reasons = (['behind', 'unconfirmed'] as const).filter((each) => logs.some(({ halted }) => halted === each));
      for (const reason of reasons) process.stdout.write(`${advice[reason]}\n`);
      const goesOn = logs.some(({ halted }) => halted === null);
      if (lag !== undefined && goesOn) process.stdout.write(`sealing is ${Math.round(lag)} s behind recording\n`);
    });
  command
    .addCommand(checkCommand(tools))
    .addCommand(verifyCommand())
    .addCommand(restartCommand(tools))
    .addCommand(confirmCommand(tools));
  return command;
}

const nothingSealed = (domainId: string, log?: number): string =>
  log === undefined
    ? `nothing of domain ${domainId} is sealed yet`
    : `domain ${domainId} has no log ${log}, or nothing of it is sealed yet`;
