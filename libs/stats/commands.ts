import { Command } from 'commander';
import { isJson, print, printList, type Tools } from '#libs/base/cli/session';
import type { Database } from '#libs/base/db/database';
import type { Breakdown } from '#libs/base/terms/terms';
import { type Difference, findDrift } from './redis/drift.ts';
import { fill, isReady, type ListCounters } from './redis/fill.ts';
import { drop } from './redis-counters.ts';
import { countersSince, listCounters, listOrganizationIds } from './stored-counters.ts';

const everything = '0000-00-00';
/** Milliseconds that a raise may be pending. */
const patience = 2_000;

const pause = () => new Promise((resolve) => setTimeout(resolve, 100));

async function organizationsOf(db: Database, only?: string): Promise<string[]> {
  const all = await db.read(listOrganizationIds);
  if (only && !all.includes(only)) throw new Error(`no organization ${only}`);
  return only ? [only] : all;
}

const inOne = ({ accept_all, reject_all, custom, withdraw }: Breakdown) =>
  `${accept_all} ${reject_all} ${custom} ${withdraw}`;

/** The counts are in the order of the columns of `counters`. */
const toRow = ({ redis, postgres, ...place }: Difference) => ({
  ...place,
  redis: inOne(redis),
  postgres: inOne(postgres),
});

export function countersCommand(tools: Tools): Command {
  const command = new Command('counters').description('the counters in Redis, a copy of those in Postgres');
  command
    .command('check')
    .alias('show')
    .description('compare every counter in Redis with Postgres; exit with 1 on any difference; safe under traffic')
    .option('--org <org>', 'only this organization')
    .action(async ({ org }: { org?: string }, self: Command) => {
      const result = await tools.database((db) =>
        tools.redis(async (redis) => {
          const found: { checked: number; differences: Difference[] } = { checked: 0, differences: [] };
          for (const organizationId of await organizationsOf(db, org)) {
            const { checked, differences } = await findDrift(
              redis,
              { organizationId, since: everything, truth: countersSince(db, organizationId, everything) },
              patience,
            );
            found.checked += checked;
            found.differences.push(...differences);
          }
          return found;
        }),
      );
      if (isJson(self)) print(self, { ...result });
      else {
        print(self, { checked: result.checked, differences: result.differences.length });
        if (result.differences.length > 0) printList(self, 'differences', result.differences.map(toRow));
      }
      if (result.differences.length > 0) process.exitCode = 1;
    });
  command
    .command('rebuild')
    .description('delete the counters in Redis and refill them from Postgres, which answers reads meanwhile')
    .option('--org <org>', 'only this organization')
    .action(async ({ org }: { org?: string }, self: Command) => {
      const rebuilt = await tools.database((db) =>
        tools.redis(async (redis) => {
          const organizations = await organizationsOf(db, org);
          for (const organizationId of organizations) {
            const list: ListCounters = (after, limit) =>
              db.read((sql) => listCounters(sql, organizationId, after, limit));
            await drop(redis.client, organizationId);
            // a read may have started a fill in between; then wait for that one
            while (!(await fill(redis, organizationId, list)) && !(await isReady(redis, organizationId))) await pause();
          }
          return organizations.length;
        }),
      );
      print(self, { rebuilt });
    });
  return command;
}
