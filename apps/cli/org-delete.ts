/** `org delete`: deletes an organization and everything that belongs to it, in Postgres and Redis. */
import { setTimeout } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import { Command } from 'commander';
import { tables as ofBanner } from '#libs/banner/tables';
import { createProgress } from '#libs/base/cli/progress';
import { print } from '#libs/base/cli/session';
import { untilWritersEnd } from '#libs/base/db/lock-holders';
import { type DeletedOrganization, tables as ofNobody, type Table } from '#libs/base/db/tables';
import { tables as ofEpochs } from '#libs/epochs/tables';
import { tables as ofNotices } from '#libs/notices/tables';
import { tables as ofPeople } from '#libs/people/tables';
import { tables as ofPrivacy } from '#libs/privacy/tables';
import { forgetTombstonesOf } from '#libs/privacy/tombstones-in-redis';
import { tables as ofProof } from '#libs/proof/tables';
import { forgetLogs } from '#libs/proof/witness';
import { type JobState, rewriteJobs } from '#libs/record/rewrite-jobs';
import { tables as ofRecord } from '#libs/record/tables';
import { drop } from '#libs/stats/redis-counters';
import { tables as ofStats } from '#libs/stats/tables';
import { closeOrganization, deleteClosing, deleteDomains, deleteNames, deleteRows } from '#libs/tenants/deletion';
import { findOrganization } from '#libs/tenants/organization-commands';
import { tables as ofTenants } from '#libs/tenants/tables';
import { tables as ofWebhooks } from '#libs/webhooks/tables';
import { tables as ofWidget } from '#libs/widget/tables';
import type { AllTools } from './tools.ts';

/**
 * All tables, in the order in which an organization's rows are deleted: deliveries first, then the sources of derivations,
 * and then derived rows from top to bottom.
 */
export const tables: Table[] = [
  ...ofWebhooks,
  ...ofRecord,
  ...ofPrivacy,
  ...ofProof,
  ...ofBanner,
  ...ofStats,
  ...ofNotices,
  ...ofPeople,
  ...ofEpochs,
  ...ofTenants,
  ...ofWidget,
  ...ofNobody,
];

/** Milliseconds: each process learns of it within half a second, and responds to earlier requests within five. */
const underWay = 6_000;
/** Milliseconds until each process has polled for new acts. */
const untilSeen = 3_000;
/** Milliseconds: longer than any statement that stores something. */
const longestStatement = 60_000;
const states: JobState[] = ['waiting', 'prioritized', 'delayed', 'failed'];

export function orgDeleteCommand(tools: AllTools): Command {
  return new Command('delete')
    .argument('<org>')
    .description('delete an organization with everything of it, for good: domains, records, proofs, counters')
    .option('--yes', 'do it')
    .action(async (organizationId: string, { yes }: { yes?: boolean }, self: Command) => {
      if (!yes) {
        const { name, domains } = await findOrganization(tools, organizationId);
        const what = `${JSON.stringify(name)} with its domains (${domains.size}) and all their records`;
        throw new Error(`to delete ${what} for good, give --yes`);
      }
      print(self, await deleteOrganization(tools, organizationId));
    });
}

async function deleteOrganization(tools: AllTools, organizationId: string) {
  const { actor } = tools.config();
  return tools.database((db) =>
    tools.queues(async (queues) => {
      const leaving = await closeOrganization(db, actor, organizationId);
      if (!leaving) {
        // left by a run that was interrupted at the end
        await deleteClosing(db, organizationId);
        throw new Error(`no organization ${organizationId}`);
      }
      await setTimeout(underWay);
      let jobs = await emptyQueues(queues, leaving);
      const progress = createProgress(0, 'records deleted');
      let records = 0;
      const deleteAll = async () => {
        const before = records;
        const show = (deleted: Map<string, number>) => {
          records = before + (deleted.get('records') ?? 0);
          progress.show(records);
        };
        await deleteRows(db, leaving, tables, show);
      };
      await deleteAll();
      await deleteDomains(db, leaving);
      const names = tables.map(({ name }) => name);
      while (!(await untilWritersEnd(db, names, longestStatement)))
        process.stderr.write('waiting for transactions that began before, and may store something yet\n');
      // jobs that a worker was processing before, and put back
      jobs += await emptyQueues(queues, leaving);
      await deleteAll();
      progress.end();
      const domainIds = leaving.domains.map(({ domainId }) => domainId);
      // before the name, by which an interrupted run continues; and after it, since a fill may have come in between
      await forget(tools, organizationId, domainIds);
      await deleteNames(db, actor, leaving);
      await forget(tools, organizationId, domainIds);
      await setTimeout(untilSeen);
      await deleteClosing(db, organizationId);
      return { organizationId, domains: domainIds.length, records, jobs };
    }),
  );
}

/** Deletes what Redis stores beside jobs. */
const forget = (tools: AllTools, organizationId: string, domainIds: string[]): Promise<void> =>
  tools.redis(async ({ client }) => {
    await drop(client, organizationId);
    await forgetLogs(client, domainIds);
    await forgetTombstonesOf(client, organizationId);
  });

/** Returns how many jobs had records of the organization. */
async function emptyQueues(queues: Queue[], { domains }: DeletedOrganization): Promise<number> {
  const ids = new Set(domains.map(({ domainId }) => domainId));
  let jobs = 0;
  for (const queue of queues) {
    // removing jobs shifts the pages of the list
    for (let some = -1; some !== 0; jobs += some) {
      some = await rewriteJobs(queue, states, async (records) =>
        records.some(({ domainId }) => ids.has(domainId))
          ? records.filter(({ domainId }) => !ids.has(domainId))
          : undefined,
      );
    }
  }
  return jobs;
}
