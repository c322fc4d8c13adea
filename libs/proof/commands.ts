/** `assent log …`: keys and state of sealed logs, their check, and the commands that end a halt. */
import { Command } from 'commander';
import { z } from 'zod';
import { createProgress } from '#libs/base/cli/progress';
import { differing, isJson, listed, print, type Tools } from '#libs/base/cli/session';
import { flags, none, text, toggle, verbsOf } from '#libs/base/cli/verb';
import type { RedisConnection } from '#libs/base/redis/connection';
import { createPerform } from '#libs/tenants/audited-change';
import { requireDomain } from '#libs/tenants/command-subject';
import { checkLogs } from './check/check-domains.ts';
import { verifyCommand } from './commands/verify.ts';
import { verifyConsistencyCommand } from './commands/verify-consistency.ts';
import { findLog } from './published.ts';
import { confirmLogs } from './seal/confirm.ts';
import { restartLogs } from './seal/restart.ts';
import { listLogStatus, sealingLag } from './status.ts';

/** the highest that Postgres stores as an integer */
const maxNumber = 2 ** 31 - 1;

/** Advice about halted logs. */
const advice = {
  behind:
    'behind: Postgres lacks entries that were signed. Restore a newer copy, or: assent log restart DOMAIN | --all-behind',
  unconfirmed:
    'unconfirmed: Postgres is another server, and so is Redis, or it remembers nothing. If entries may be missing: assent log restart DOMAIN --log N, with a number that was never used. If not: assent log confirm',
};

const keyFlags = flags(
  z.object({
    log: z
      .int()
      .min(1)
      .optional()
      .describe('which of its logs, after a restart; default: the newest that has a checkpoint'),
  }),
);
const restartFlags = flags(
  z.object({
    allBehind: toggle('of all domains whose logs are halted as behind'),
    log: z.int().min(1).max(maxNumber).optional().describe('its number, if the next one may have been used before'),
    yes: toggle('also where the log is not halted'),
  }),
);

export function logCommand(tools: Tools<{ actor: string; logName(): string }>): Command {
  const noun = new Command('log').description('the sealed log: what proves a record');
  const verb = verbsOf(noun);

  verb('key <domain>', keyFlags, async ({ log }, domainId) => {
    const found = await tools.database(async (db) => {
      await requireDomain(db, domainId);
      return db.read((sql) => findLog(sql, domainId, log));
    });
    if (!found) throw new Error(nothingSealed(domainId, log));
    const { verifierKeys } = found;
    return (self) => {
      if (isJson(self)) print(self, { verifierKeys });
      else process.stdout.write(verifierKeys.map((key) => `${key}\n`).join(''));
    };
  }).description('the keys that verify its checkpoints, newest first');

  verb('status', none, async () => {
    const [logs, lag] = await tools.database((db) =>
      db.read(async (sql) => [await listLogStatus(sql), await sealingLag(sql)] as const),
    );
    return async (self) => {
      if (isJson(self))
        return listed(
          'logs',
          logs.map((log) => ({ ...log, behind: log.halted === 'behind' })),
        )(self);
      await listed('logs', logs, 'nothing is sealed yet')(self);
      const reasons = (['behind', 'unconfirmed'] as const).filter((each) => logs.some(({ halted }) => halted === each));
      for (const reason of reasons) process.stdout.write(`${advice[reason]}\n`);
      const goesOn = logs.some(({ halted }) => halted === null);
      if (lag !== undefined && goesOn) process.stdout.write(`sealing is ${Math.round(lag)} s behind recording\n`);
    };
  }).description('the newest log of each domain, how far it is sealed, and whether it is halted');

  verb('check', flags(z.object({ domain: text('only this domain') })), async ({ domain: domainId }) => {
    const progress = createProgress(0, 'entries');
    const { checked, differences, comparedWithRedis } = await tools.database(async (db) => {
      if (domainId !== undefined) await requireDomain(db, domainId);
      return withRedis(tools, async (redis) => ({
        ...(await checkLogs({ db, redis, domainId, progress: progress.show })),
        comparedWithRedis: redis !== undefined,
      }));
    });
    progress.end();
    if (differences.length > 0) process.exitCode = 1;
    return differing({ checked, comparedWithRedis }, differences);
  }).description('recompute the logs from the stored records; exit with 1 on any difference; safe under traffic');
  noun.addCommand(verifyCommand()).addCommand(verifyConsistencyCommand());

  verb('restart [domain]', restartFlags, async ({ allBehind = false, ...options }, domainId?: string) => {
    if ((domainId === undefined) !== allBehind) throw new Error('give either a domain or --all-behind');
    const config = tools.config();
    const logName = config.logName();
    const restarted = await tools.database((db) =>
      tools.redis((redis) =>
        restartLogs({ db, perform: createPerform(db, config.actor), redis, logName }, { ...options, domainId }),
      ),
    );
    const [only] = restarted;
    if (allBehind || !only) return listed('restarted', restarted, 'no log is behind');
    return (self) => {
      print(self, only);
      if (isJson(self)) return;
      process.stdout.write(
        `log ${only.ended} ended at ${only.size} entries and stays readable; what is stored since gets positions in log ${only.log} within a minute or so\n`,
      );
    };
  }).description('end the log of a domain and begin its next one, for what is stored and has no signed position');

  verb('confirm [domain...]', none, async (_, ...only) => {
    const { confirmed, behind } = await tools.database(async (db) => {
      for (const domainId of only) await requireDomain(db, domainId);
      return tools.redis((redis) => confirmLogs({ db, perform: createPerform(db, tools.config().actor), redis }, only));
    });
    return (self) => {
      print(self, { confirmed, behind });
      if (behind.length > 0 && !isJson(self)) {
        process.stdout.write('those behind lack entries that were signed: see assent log status\n');
      }
    };
  }).description(
    'after a failover that lost nothing: let unconfirmed logs go on, all of them or those of these domains',
  );
  return noun;
}

const nothingSealed = (domainId: string, log?: number): string =>
  log === undefined
    ? `nothing of domain ${domainId} is sealed yet`
    : `domain ${domainId} has no log ${log}, or nothing of it is sealed yet`;

/** With Redis if it is reachable; otherwise only Postgres is checked. */
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
