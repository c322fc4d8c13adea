import { Command } from 'commander';
import { isJson, print, printList, type Tools } from '#libs/base/cli/session';
import { wholeNumber } from '#libs/base/cli/whole-number';
import type { Database } from '#libs/base/db/database';
import type { RedisConnection } from '#libs/base/redis/connection';
import { createPerform, type Perform } from '#libs/tenants/audited-change';
import { restartLog } from './restart.ts';
import { listLogStatus } from './status.ts';
import { recall } from './witness.ts';

/** as Postgres stores it */
const maxNumber = 2 ** 31 - 1;

interface Options {
  allBehind?: boolean;
  log?: number;
  yes?: boolean;
}

export function restartCommand(tools: Tools<{ actor: string; logName(): string }>): Command {
  return new Command('restart')
    .argument('[domain]')
    .description('end the log of a domain and begin its next one, for what is stored and has no signed position')
    .option('--all-behind', 'of all domains whose logs are halted as behind')
    .option('--log <n>', 'its number, if the next one may have been used before', wholeNumber(maxNumber))
    .option('--yes', 'also where the log is not halted')
    .action(async (domainId: string | undefined, options: Options, self: Command) => {
      const { allBehind = false } = options;
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
    });
}

interface Parts {
  db: Database;
  perform: Perform;
  redis: RedisConnection;
  logName: string;
}

/** Without a domain: of all whose logs are behind. */
export async function restartLogs(
  { db, perform, redis, logName }: Parts,
  { domainId, log: least = 1, yes = false }: Options & { domainId?: string | undefined } = {},
) {
  const concerned = await db.run((sql) => listLogStatus(sql, domainId === undefined ? 'behind' : undefined));
  const named = concerned.find((each) => each.domainId === domainId);
  if (named?.halted === null && !yes)
    throw new Error(`log ${named.log} of ${domainId} is not halted; to end it all the same, give --yes`);
  const ids = domainId === undefined ? concerned.map((each) => each.domainId) : [domainId];
  const results = [];
  for (const id of ids) {
    const next = async (ended: number) => {
      const [witnessed] = await recall(redis.client, [id]);
      const log = Math.max(ended + 1, (witnessed?.log ?? 0) + 1, least);
      return { log, origin: `${logName}/${id}/${log}` };
    };
    results.push(await restartLog(perform, id, next));
  }
  return results;
}
