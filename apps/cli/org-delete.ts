/** `org delete`: an organization with all that is its own, in Postgres and in Redis. */
import { setTimeout } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import { drop } from '#libs/counters/raise';
import { type JobState, rewriteJobs } from '#libs/queue/jobs';
import { closeOrganization, deleteNames, deleteRows, type Leaving } from '#libs/store/tenants/deletion';
import { forgetTombstonesOf } from '#libs/witness/tombstones';
import { forgetLogs } from '#libs/witness/witness';
import { createProgress } from './progress.ts';
import { readConfig, withDatabase, withQueues, withRedis } from './session.ts';

/** Milliseconds: each process knows within half a second, and whatever came before is answered within five. */
const underWay = 6_000;
const states: JobState[] = ['waiting', 'prioritized', 'delayed', 'failed'];

export async function deleteOrganization(organizationId: string) {
  const { actor } = readConfig();
  return withDatabase((db) =>
    withQueues(async (queues) => {
      const leaving = await closeOrganization(db, actor, organizationId);
      if (!leaving) throw new Error(`no organization ${organizationId}`);
      await setTimeout(underWay);
      const jobs = await emptyQueues(queues, leaving);
      const progress = createProgress(0, 'records deleted');
      const records = await deleteRows(db, leaving, (count) => progress.show(count));
      progress.end();
      const domainIds = leaving.domains.map(({ domainId }) => domainId);
      // before its names, by which a run that was cut off goes on; and after them, since a fill may just have come
      await forget(organizationId, domainIds);
      await deleteNames(db, actor, leaving);
      await forget(organizationId, domainIds);
      return { organizationId, domains: domainIds.length, records, jobs };
    }),
  );
}

/** What Redis remembers beside jobs. */
const forget = (organizationId: string, domainIds: string[]): Promise<void> =>
  withRedis(async ({ client }) => {
    await drop(client, organizationId);
    await forgetLogs(client, domainIds);
    await forgetTombstonesOf(client, organizationId);
  });

/** Returns how many jobs had records of it. */
async function emptyQueues(queues: Queue[], { domains }: Leaving): Promise<number> {
  const ids = new Set(domains.map(({ domainId }) => domainId));
  let jobs = 0;
  for (const queue of queues) {
    // removing moves what is listed
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
