/**
 * Keeps in memory which notices are stored, so that a receipt can say without a query whether one is wanted. Twice a second
 * the process asks which notices were put or deleted. With very many notices, or after a very long commit, it knows too
 * few; a widget then sends a document again, which is harmless.
 */

import type { Database } from '#libs/base/db/database';
import type { Log } from '#libs/base/ops/process-log';
import { every, type Rounds } from '#libs/base/timers';
import { droppedFor } from './dropping.ts';

const pollEvery = 500;
/**
 * Milliseconds by which a poll looks back beyond the last one: a change made then may have been committed only after it.
 */
const overlap = 10_000;
/** Milliseconds without a poll after which all notices are read again: rows of deleted ones exist for an hour. */
const longestGap = (droppedFor * 3_600_000) / 2;
/** Notices that a process reads at once, newest first, of some 100 bytes each. With twice as many it starts over. */
const maxRemembered = 50_000;

export interface KnownNotices {
  /** Whether the service lacks this notice; false until that is known. */
  isWanted(domainId: string, hash: string): boolean;
  isStored(domainId: string, hash: string): boolean;
  /** Adds a notice that this process has stored. */
  add(domainId: string, hash: string): void;
  /** Starts following changes; call once, and `close` at the end. */
  follow(): Promise<void>;
  close(): void;
}

interface Memory {
  generation: number;
  size: number;
  hashes: Map<string, Set<string>>;
}

interface Change {
  domainId: string;
  notice: string;
  isStored: boolean;
}

export function createKnownNotices(db: Database, log: Pick<Log, 'warn'>): KnownNotices {
  let memory: Memory | undefined;
  /** the time of the last poll, by the database's clock and by this process's */
  let asked = { theirs: 0, ours: 0 };

  const isStored = (domainId: string, hash: string) => memory?.hashes.get(domainId)?.has(hash) ?? false;
  const ask = async () => {
    const generation = db.generation();
    const ours = performance.now();
    // after a lost connection the database may be another one, restored or promoted
    const isCurrent =
      memory?.generation === generation && memory.size <= 2 * maxRemembered && ours < asked.ours + longestGap;
    const since = isCurrent ? new Date(asked.theirs - overlap) : null;
    const { changes, theirs } = await readChanges(db, since);
    const next = since && memory ? memory : { generation, size: 0, hashes: new Map<string, Set<string>>() };
    for (const change of changes) apply(next, change);
    memory = next;
    asked = { theirs, ours };
  };

  let polls: Rounds | undefined;

  return {
    isStored,
    isWanted: (domainId, hash) => memory !== undefined && !isStored(domainId, hash),
    add: (domainId, notice) => {
      if (memory) apply(memory, { domainId, notice, isStored: true });
    },
    follow: () => {
      polls = every({
        name: 'poll_notices',
        pace: pollEvery,
        task: ask,
        failed: (error, isNews) => {
          if (isNews) log.warn({ err: error }, 'cannot poll Postgres for new notices');
        },
      });
      return polls.now();
    },
    close: () => void polls?.stop(),
  };
}

function apply(memory: Memory, { domainId, notice, isStored }: Change): void {
  const ofDomain = memory.hashes.get(domainId) ?? new Set<string>();
  memory.hashes.set(domainId, ofDomain);
  memory.size -= ofDomain.size;
  if (isStored) ofDomain.add(notice);
  else ofDomain.delete(notice);
  memory.size += ofDomain.size;
}

/**
 * Notices put or deleted after `since`, or all stored ones if it is null; in both cases at most the newest `remembered`.
 */
async function readChanges(db: Database, since: Date | null): Promise<{ changes: Change[]; theirs: number }> {
  const rows = await db.read(
    (sql) => sql<(Change & { now: Date })[]>`
      select now, d.id as "domainId", encode(hash, 'hex') as notice, "isStored"
      from (select clock_timestamp() as now) as asked
      left join (
        select domain_number, hash, documented_at is not null as "isStored" from notices
        where ${since === null ? sql`documented_at is not null` : sql`greatest(documented_at, dropped_at) > ${since}`}
        order by greatest(documented_at, dropped_at) desc limit ${maxRemembered}
      ) as changed on true
      left join domains d on d.number = changed.domain_number`,
    { deadline: 2_000 },
  );
  const now = rows[0]?.now.getTime() ?? 0;
  return { changes: rows.filter(({ domainId }) => domainId !== null), theirs: now };
}
