/**
 * What is left of erased visitors beyond stored records: erasures that are too large for one answer, jobs in queues,
 * rejected records, counters of busy visitors, Redis' append-only file, user agents that nobody names any more.
 */

import type { NewRecord } from '#libs/contract/record';
import { type JobState, rewriteJobs } from '#libs/queue/jobs';
import { knownShards } from '#libs/queue/shards';
import { openToRead } from '#libs/queue/summary';
import type { RedisConnection } from '#libs/runtime/redis';
import type { Clock } from '#libs/store/clock';
import { deleteBusyErased } from '#libs/store/privacy/busy-erased';
import { goOn, takeErasure } from '#libs/store/privacy/erasures';
import { blankRejected, withoutPersonal } from '#libs/store/privacy/rejected-visitors';
import { deleteOldTombstones, listErasedDomains, listUnsearched, noteSearched } from '#libs/store/privacy/tombstones';
import type { VisitorHash } from '#libs/store/privacy/visitor-hash';
import type { Database } from '#libs/store/sql';
import { deleteUnnamedUserAgents } from '#libs/store/user-agents/unnamed';
import { rewriteFile, wantRewrite } from '#libs/witness/rewrite';
import { forgetTombstones } from '#libs/witness/tombstones';

export interface LeftoverParts {
  config: { queueShards: number; backupDays: number };
  hashOf: VisitorHash | undefined;
  redis: RedisConnection;
  db: Database;
  clock: Pick<Clock, 'agrees'>;
}

const day = 24 * 60 * 60 * 1_000;
/** in which jobs stay */
const resting: JobState[] = ['delayed', 'failed'];
const waiting: JobState[] = ['waiting', 'prioritized'];

/** Goes on with erasures that nobody is at. */
export async function goOnErasing(db: Database, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const begun = await db.run(takeErasure);
    if (!begun) return;
    await goOn(db, begun, signal);
  }
}

/** Returns a round. Whatever fails, because Redis is away, is done by the next one. */
export function createClearing(parts: LeftoverParts): () => Promise<void> {
  const { config, hashOf, redis, db, clock } = parts;
  return async () => {
    const domains = await db.run(listErasedDomains);
    if (hashOf && domains.length > 0) {
      const unsearched = await db.run(listUnsearched);
      const byId = new Map(domains.map((domain) => [domain.domainId, domain]));
      const isErased = ({ domainId, visitorId }: Pick<NewRecord, 'domainId' | 'visitorId'>) => {
        const domain = byId.get(domainId);
        return (
          domain !== undefined &&
          visitorId !== undefined &&
          domain.hashes.has(hashOf(domain.organizationId, visitorId).toString('hex'))
        );
      };
      await db.run((sql) => deleteBusyErased(sql, domains, hashOf));
      await blankRejected(db, isErased);
      const changed = await clearQueues(parts, unsearched.length > 0 ? [...waiting, ...resting] : resting, isErased);
      // jobs that were consumed are in the file, too
      if (unsearched.length > 0 || changed > 0) await wantRewrite(redis.client);
      await db.run((sql) => noteSearched(sql, unsearched));
    }
    // who was erased must not be forgotten early: nobody could tell again
    if (clock.agrees()) {
      await db.run(deleteOldTombstones);
      await forgetTombstones(redis.client, new Date(Date.now() - config.backupDays * day).toISOString());
    }
    await rewriteFile(redis.client);
    // of deleted organizations too; last, since it may have to look at all records
    await deleteUnnamedUserAgents(db);
  };
}

async function clearQueues(
  { config, redis }: LeftoverParts,
  states: JobState[],
  isErased: (record: NewRecord) => boolean,
): Promise<number> {
  const queues = (await knownShards(redis.client, config.queueShards)).map((shard) => openToRead(redis, shard));
  try {
    let changed = 0;
    for (const queue of queues) {
      changed += await rewriteJobs(queue, states, async (records) =>
        records.some(isErased)
          ? records.map((record) => (isErased(record) ? withoutPersonal(record) : record))
          : undefined,
      );
    }
    return changed;
  } finally {
    await Promise.all(queues.map((queue) => queue.close()));
  }
}
