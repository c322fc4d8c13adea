import { Command } from 'commander';
import { isJson, print, type Tools } from '#libs/base/cli/session';
import type { Database } from '#libs/base/db/database';
import type { RedisConnection } from '#libs/base/redis/connection';
import { createPerform, type Perform } from '#libs/tenants/audited-change';
import { confirmLogs as confirmSome } from './confirm.ts';
import { listLogStatus } from './status.ts';
import { isBehind, recall, remember } from './witness.ts';

/** logs in one transaction */
const chunk = 500;

export function confirmCommand(tools: Tools<{ actor: string }>): Command {
  return new Command('confirm')
    .argument('[domain...]')
    .description(
      'after a failover that lost nothing: let unconfirmed logs go on, all of them or those of these domains',
    )
    .action(async (only: string[], _: object, self: Command) => {
      const { confirmed, behind } = await tools.database((db) =>
        tools.redis((redis) => confirmLogs({ db, perform: createPerform(db, tools.config().actor), redis }, only)),
      );
      print(self, { confirmed, behind });
      if (behind.length > 0 && !isJson(self)) {
        process.stdout.write('those behind lack entries that were signed: see assent log status\n');
      }
    });
}

interface Parts {
  db: Database;
  perform: Perform;
  redis: RedisConnection;
}

/** Of all domains, or of `only`. Returns how many logs may go on, and the domains of all that are behind. */
export async function confirmLogs({ db, perform, redis: { client } }: Parts, only: string[] = []) {
  let [confirmed, after] = [0, 0];
  for (;;) {
    const judged = await confirmSome(perform, { after, limit: chunk, only }, async (logs) => {
      const witnessed = await recall(
        client,
        logs.map(({ domainId }) => domainId),
      );
      const fine = logs.filter((own, at) => !isBehind(own, witnessed[at]));
      // before they may go on: from now on an older copy of this database is known as one
      await remember(
        client,
        fine.flatMap(({ domainId, log, checkpointSize, root }) =>
          root ? [{ domainId, log, size: checkpointSize, root }] : [],
        ),
      );
      return logs.map((own) => (fine.includes(own) ? null : 'behind'));
    });
    if (!judged) break;
    confirmed += judged.filter(({ halted }) => halted === null).length;
    after = judged.at(-1)?.domainNumber ?? after;
  }
  const behind = await db.run((sql) => listLogStatus(sql, 'behind'));
  return { confirmed, behind: behind.map(({ domainId }) => domainId) };
}
