/**
 * What is left of erased visitors beyond stored records: erasures that are too large for one answer, jobs in queues,
 * rejected records, counters of busy visitors, Redis' append-only file, user agents that nobody names any more.
 */
import { type Clock, trustedAfter } from '#libs/base/db/clock';
import type { Database } from '#libs/base/db/database';
import { chunksOf } from '#libs/base/group-by';
import { requestRewrite, rewriteFile } from '#libs/base/redis/aof-rewrite';
import type { RedisConnection } from '#libs/base/redis/connection';
import { createPieceSize } from '#libs/epochs/piece-size';
import { forgetVisitor } from '#libs/record/busy-visitors';
import type { NewRecord } from '#libs/record/contract';
import { knownShards, queuePrefix, recordQueue } from '#libs/record/queue';
import { openQueue } from '#libs/record/queue-summary';
import { rewriteJobs, rewriteResting } from '#libs/record/rewrite-jobs';
import { deleteUnreferencedUserAgents, usualPiece } from '#libs/record/user-agent-deletion';
import type { VisitorHash } from '#libs/tenants/visitors';
import { blankRejected, withoutPersonal } from './blank-rejected.ts';
import { createErasedLookup, erasedAmong } from './erased-lookup.ts';
import { goOn, takeErasure } from './erasures.ts';
import { deleteOldTombstones, firstConcerned, listUnsearched, noteSearched } from './tombstones.ts';
import { forgetTombstones } from './tombstones-in-redis.ts';

interface LeftoverParts {
  config: { queueShards: number; backupDays: number };
  hashOf: VisitorHash | undefined;
  redis: RedisConnection;
  db: Database;
  clock: Pick<Clock, 'steadyFor'>;
}

const day = 24 * 60 * 60 * 1_000;
/** milliseconds after which all delayed and failed jobs are checked again */
const knownFor = 60 * 60_000;

/** Continues erasures that no process is working on. */
export async function goOnErasing(db: Database, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const begun = await db.write(takeErasure);
    if (!begun) return;
    await goOn(db, begun, signal);
  }
}

/**
 * Returns a round. A step that fails, because Redis is away or has too much to do, keeps no other from being done; the
 * round then fails with all of their errors, and the next one does it again.
 */
export function createClearing(parts: LeftoverParts): () => Promise<void> {
  const { config, hashOf, redis, db, clock } = parts;
  const size = createPieceSize(usualPiece);
  const seenIn = createSeen(redis);
  const ofErased = (step: (hashOf: VisitorHash) => Promise<void>) => async () => {
    if (hashOf && (await db.read(firstConcerned)) !== undefined) await step(hashOf);
  };
  // a tombstone must not be deleted early, since nothing could restore it; both clocks may be wrong for a while
  const mayForget = () => clock.steadyFor() >= trustedAfter;
  const steps: Record<string, () => Promise<unknown>> = {
    'busy visitors': ofErased((hash) => deleteBusyErased(db, hash)),
    'rejected records': ofErased((hash) => clearRejected(db, hash)),
    queues: ofErased((hash) => clearQueues(parts, hash, seenIn)),
    'old tombstones': async () => mayForget() && deleteOldTombstones(db),
    'tombstones in Redis': async () =>
      mayForget() && forgetTombstones(redis.client, new Date(Date.now() - config.backupDays * day)),
    'append-only file': () => rewriteFile(redis.client),
    // of deleted organizations too
    'user agents': () => deleteUnreferencedUserAgents(db, { size }),
  };
  return async () => {
    const errors: unknown[] = [];
    const failed: string[] = [];
    for (const [name, step] of Object.entries(steps)) {
      try {
        await step();
      } catch (error) {
        errors.push(error);
        failed.push(`${name} (${error instanceof Error ? error.message : String(error)})`);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, `could not clear: ${failed.join(', ')}`);
  };
}

/** If there is a new tombstone, checks all rejected records, otherwise only the new ones; always against all tombstones. */
async function clearRejected(db: Database, hashOf: VisitorHash): Promise<void> {
  const unsearched = await db.read((sql) => listUnsearched(sql, 'rejected'));
  await blankRejected(db, createErasedLookup(db, hashOf), { onlyNew: unsearched.length === 0 });
  await noteSearched(db, 'rejected', unsearched);
}

/** For each shard, the delayed and failed jobs that this process has already checked against all tombstones. */
type SeenIn = (shard: number) => Set<string>;

/** Forgets them after an hour, and if another Redis server took over, because that one may lack our changes. */
function createSeen(redis: RedisConnection): SeenIn {
  const shards = new Map<number, { server: string | undefined; since: number; seen: Set<string> }>();
  return (shard) => {
    const server = redis.runIdOf(`${queuePrefix}:${recordQueue(shard)}`);
    const known = shards.get(shard);
    const isSame = server !== undefined && server === known?.server;
    if (known && isSame && performance.now() < known.since + knownFor) return known.seen;
    const seen = new Set<string>();
    shards.set(shard, { server, since: performance.now(), seen });
    return seen;
  };
}

/**
 * If there is a new tombstone, checks all jobs, otherwise only those that have become delayed or failed, perhaps again,
 * since the last check. A worker that holds a job meanwhile may put it back unchanged.
 */
async function clearQueues({ config, redis, db }: LeftoverParts, hashOf: VisitorHash, seenIn: SeenIn): Promise<void> {
  const unsearched = await db.read((sql) => listUnsearched(sql, 'queues'));
  const erasedOf = createErasedLookup(db, hashOf);
  const change = async (records: NewRecord[]) => {
    const erased = await erasedOf(records);
    return erased.size === 0
      ? undefined
      : records.map((record) => (erased.has(record) ? withoutPersonal(record) : record));
  };
  const queues = (await knownShards(redis.client, config.queueShards)).map((shard) => ({
    queue: openQueue(redis, shard),
    seen: seenIn(shard),
  }));
  let changed = 0;
  try {
    for (const { queue, seen } of queues) {
      if (unsearched.length > 0) {
        seen.clear();
        changed += await rewriteJobs(queue, ['waiting', 'prioritized'], change);
      }
      changed += await rewriteResting(queue, { client: redis.client, seen }, change);
    }
  } finally {
    await Promise.all(queues.map(({ queue }) => queue.close()));
  }
  // Redis' append-only file still has jobs that were consumed
  if (unsearched.length > 0 || changed > 0) await requestRewrite(redis.client);
  await noteSearched(db, 'queues', unsearched);
}

/** visitors that are looked up in one statement */
const chunk = 1_000;

/** There are few busy visitors, and the recursive query reads only one row of `visitor_counters` for each. */
async function deleteBusyErased(db: Database, hashOf: VisitorHash): Promise<void> {
  const busy = await db.read(
    (sql) => sql<{ domainNumber: number; visitorId: string; organizationId: string }[]>`
      with recursive counted as (
        (select domain_number, visitor_id from visitor_counters order by 1, 2 limit 1)
        union all
        select next.* from counted cross join lateral (
          select c.domain_number, c.visitor_id from visitor_counters c
          where (c.domain_number, c.visitor_id) > (counted.domain_number, counted.visitor_id) order by 1, 2 limit 1
        ) as next
      )
      select domain_number as "domainNumber", visitor_id as "visitorId", organization_id as "organizationId"
      from (select * from counted union select domain_number, visitor_id from busy_visitors) as busy
      join domains on number = domain_number`,
  );
  for (const some of chunksOf([...busy], chunk)) {
    for (const { domainNumber, visitorId } of await db.read((sql) => erasedAmong(sql, hashOf, some))) {
      await db.write((sql) => forgetVisitor(sql, visitorId, sql`${domainNumber}`));
    }
  }
}
