/** `assent log …`: the sealed log's keys and state, its check, and what ends a halt. */
import { Command } from 'commander';
import { isJson, print, printList, type Tools } from '#libs/base/cli/session';
import { wholeNumber } from '#libs/base/cli/whole-number';
import type { RedisConnection } from '#libs/base/redis/connection';
import { createPerform } from '#libs/tenants/audited-change';
import { requireDomain } from '#libs/tenants/command-subject';
import { checkLogs } from './check/check-domains.ts';
import { confirmLogs } from './confirm.ts';
import { findLog } from './published.ts';
import { restartLogs } from './restart.ts';
import { listLogStatus, sealingLag } from './status.ts';
import { verifyCommand } from './verify-command.ts';
import { verifyConsistencyCommand } from './verify-consistency-command.ts';

/** the highest that Postgres stores as an integer */
const maxNumber = 2 ** 31 - 1;

/** What to do about halted logs. */
const advice = {
  behind:
    'behind: Postgres lacks entries that were signed. Restore a newer copy, or: assent log restart DOMAIN | --all-behind',
  unconfirmed:
    'unconfirmed: Postgres is another server, and so is Redis, or it remembers nothing. If entries may be missing: assent log restart DOMAIN --log N, with a number that was never used. If not: assent log confirm',
};

export function logCommand(tools: Tools<{ actor: string; logName(): string }>): Command {
  const command = new Command('log').description('the sealed log: what proves a record');
  command
    .command('key <domain>')
    .description('the keys that verify its checkpoints, newest first')
    .option('--log <n>', 'which of its logs, after a restart; default: the newest that has a checkpoint', wholeNumber())
    .action(async (domainId: string, { log }: { log?: number }, self: Command) => {
      const found = await tools.database(async (db) => {
        await requireDomain(db, domainId);
        return db.read((sql) => findLog(sql, domainId, log));
      });
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
        db.read(async (sql) => [await listLogStatus(sql), await sealingLag(sql)] as const),
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
    .addCommand(verifyConsistencyCommand())
    .addCommand(restartCommand(tools))
    .addCommand(confirmCommand(tools));
  return command;
}

const nothingSealed = (domainId: string, log?: number): string =>
  log === undefined
    ? `nothing of domain ${domainId} is sealed yet`
    : `domain ${domainId} has no log ${log}, or nothing of it is sealed yet`;

function checkCommand(tools: Tools): Command {
  return new Command('check')
    .description('recompute the logs from the stored records; exit with 1 on any difference; safe under traffic')
    .option('--domain <domain>', 'only this domain')
    .action(async ({ domain: domainId }: { domain?: string }, self: Command) => {
      const progress = process.stderr.isTTY ? createProgress() : undefined;
      const { checked, differences, comparedWithRedis } = await tools.database(async (db) => {
        if (domainId !== undefined) await requireDomain(db, domainId);
        return withRedis(tools, async (redis) => ({
          ...(await checkLogs({ db, redis, domainId, ...(progress && { progress: progress.show }) })),
          comparedWithRedis: redis !== undefined,
        }));
      });
      progress?.end();
      if (isJson(self)) print(self, { checked, comparedWithRedis, differences });
      else {
        print(self, { checked, comparedWithRedis, differences: differences.length });
        if (differences.length > 0)
          printList(
            self,
            'differences',
            differences.map((difference) => ({ ...difference })),
          );
      }
      if (differences.length > 0) process.exitCode = 1;
    });
}

/** With Redis where it answers; otherwise only Postgres is checked. */
async function withRedis<T>(tools: Tools, work: (redis: RedisConnection | undefined) => Promise<T>): Promise<T> {
  let isConnected = false;
  try {
    return await tools.redis((redis) => {
      isConnected = true;
      return work(redis);
    });
  } catch (error) {
    if (isConnected) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`not compared with what Redis remembers: ${reason}\n`);
    return work(undefined);
  }
}

/** One line on a terminal. */
function createProgress() {
  const started = performance.now();
  let shown = 0;
  return {
    show: (checked: number) => {
      const now = performance.now();
      if (now < shown + 200) return;
      shown = now;
      const rate = Math.round(checked / ((now - started) / 1_000));
      process.stderr.write(`\r\u001b[K${checked} entries, ${rate}/s`);
    },
    end: () => process.stderr.write('\r\u001b[K'),
  };
}

function restartCommand(tools: Tools<{ actor: string; logName(): string }>): Command {
  return new Command('restart')
    .argument('[domain]')
    .description('end the log of a domain and begin its next one, for what is stored and has no signed position')
    .option('--all-behind', 'of all domains whose logs are halted as behind')
    .option('--log <n>', 'its number, if the next one may have been used before', wholeNumber(maxNumber))
    .option('--yes', 'also where the log is not halted')
    .action(
      async (
        domainId: string | undefined,
        { allBehind = false, ...options }: { allBehind?: boolean; log?: number; yes?: boolean },
        self: Command,
      ) => {
        if ((domainId === undefined) !== allBehind) throw new Error('give either a domain or --all-behind');
        const config = tools.config();
        const logName = config.logName();
        const restarted = await tools.database((db) =>
          tools.redis((redis) =>
            restartLogs({ db, perform: createPerform(db, config.actor), redis, logName }, { ...options, domainId }),
          ),
        );
        const [only] = restarted;
        if (allBehind || !only) return printList(self, 'restarted', restarted, 'no log is behind');
        print(self, only);
        if (isJson(self)) return;
        process.stdout.write(
          `log ${only.ended} ended at ${only.size} entries and stays readable; what is stored since gets positions in log ${only.log} within a minute or so\n`,
        );
      },
    );
}

function confirmCommand(tools: Tools<{ actor: string }>): Command {
  return new Command('confirm')
    .argument('[domain...]')
    .description(
      'after a failover that lost nothing: let unconfirmed logs go on, all of them or those of these domains',
    )
    .action(async (only: string[], _: object, self: Command) => {
      const { confirmed, behind } = await tools.database(async (db) => {
        for (const domainId of only) await requireDomain(db, domainId);
        return tools.redis((redis) =>
          confirmLogs({ db, perform: createPerform(db, tools.config().actor), redis }, only),
        );
      });
      print(self, { confirmed, behind });
      if (behind.length > 0 && !isJson(self)) {
        process.stdout.write('those behind lack entries that were signed: see assent log status\n');
      }
    });
}
