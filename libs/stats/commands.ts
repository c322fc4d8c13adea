import { Command } from 'commander';
import { z } from 'zod';
import { differing, type Tools } from '#libs/base/cli/session';
import { flags, text, verbsOf } from '#libs/base/cli/verb';
import type { Database } from '#libs/base/db/database';
import type { RedisConnection } from '#libs/base/redis/connection';
import type { Breakdown } from '#libs/base/terms/terms';
import { requireOrganization } from '#libs/tenants/command-subject';
import { type Difference, findDrift } from './redis/drift.ts';
import { fill, isReady, type ListCounters } from './redis/fill.ts';
import { drop } from './redis-counters.ts';
import { countersSince, listCounters, listOrganizationIds } from './stored-counters.ts';

const everything = '0000-00-00';
/** Milliseconds that a raise may be pending. */
const patience = 2_000;

const pause = () => new Promise((resolve) => setTimeout(resolve, 100));

async function organizationsOf(db: Database, only?: string): Promise<string[]> {
  if (only === undefined) return db.read(listOrganizationIds);
  await requireOrganization(db, only);
  return [only];
}

const inOne = ({ accept_all, reject_all, custom, withdraw }: Breakdown) =>
  `${accept_all} ${reject_all} ${custom} ${withdraw}`;

/** The counts are in the order of the columns of `counters`. */
const toRow = ({ redis, postgres, ...place }: Difference) => ({
  ...place,
  redis: inOne(redis),
  postgres: inOne(postgres),
});

const flagsOfBoth = flags(z.object({ org: text('only this organization') }));

export function countersCommand(tools: Tools): Command {
  const noun = new Command('counters').description('the counters in Redis, a copy of those in Postgres');
  const verb = verbsOf(noun);
  /** Runs `work` for one organization, or for each; resolves to how many. */
  const inEach = (org: string | undefined, work: (db: Database, redis: RedisConnection, id: string) => Promise<void>) =>
    tools.database((db) =>
      tools.redis(async (redis) => {
        const organizations = await organizationsOf(db, org);
        for (const organizationId of organizations) await work(db, redis, organizationId);
        return organizations.length;
      }),
    );

  verb('check', flagsOfBoth, async ({ org }) => {
    let checked = 0;
    const differences: Difference[] = [];
    await inEach(org, async (db, redis, organizationId) => {
      const truth = countersSince(db, organizationId, everything);
      const found = await findDrift(redis, { organizationId, since: everything, truth }, patience);
      checked += found.checked;
      differences.push(...found.differences);
    });
    if (differences.length > 0) process.exitCode = 1;
    return differing({ checked }, differences, toRow);
  })
    .alias('show')
    .description('compare every counter in Redis with Postgres; exit with 1 on any difference; safe under traffic');

  verb('rebuild', flagsOfBoth, async ({ org }) => ({
    rebuilt: await inEach(org, async (db, redis, organizationId) => {
      const list: ListCounters = (after, limit) => db.read((sql) => listCounters(sql, organizationId, after, limit));
      await drop(redis.client, organizationId);
      // a read may have started a fill in between; then wait for that one
      while (!(await fill(redis, organizationId, list)) && !(await isReady(redis, organizationId))) await pause();
    }),
  })).description('delete the counters in Redis and refill them from Postgres, which answers reads meanwhile');
  return noun;
}
