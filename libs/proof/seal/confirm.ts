/**
 * Confirming: resumes logs that were halted because Postgres is another server, provided they have every entry that Redis
 * remembers.
 */

import type { Database } from '#libs/base/db/database';
import type { RedisConnection } from '#libs/base/redis/connection';
import type { Perform } from '#libs/tenants/audited-change';
import type { Halted } from '../heads.ts';
import { listLogStatus } from '../status.ts';
import { isBehind, recall, remember } from '../witness.ts';
import { lockUnconfirmed, setHalted } from './checkpoints.ts';

/** logs in one transaction */
const chunk = 500;

interface Parts {
  db: Database;
  perform: Perform;
  redis: RedisConnection;
}

/**
 * Resumes the unconfirmed logs of all domains, or of `only` these. Returns how many were resumed, and all domains whose
 * logs are behind, regardless of `only`.
 */
export async function confirmLogs({ db, perform, redis }: Parts, only: string[] = []) {
  let [confirmed, after] = [0, 0];
  for (;;) {
    const judged = await confirmNext({ perform, redis }, { after, only });
    if (judged.length === 0) break;
    confirmed += judged.filter(({ halted }) => halted === null).length;
    after = judged.at(-1)?.domainNumber ?? after;
  }
  const behind = await db.read((sql) => listLogStatus(sql, 'behind'));
  return { confirmed, behind: behind.map(({ domainId }) => domainId) };
}

/**
 * Judges the next unconfirmed logs after domain `after`: resumes those that are not behind, and marks the others as behind.
 * Returns all of them with their new state.
 */
const confirmNext = ({ perform, redis }: Omit<Parts, 'db'>, { after, only }: { after: number; only: string[] }) =>
  perform(async (sql, note) => {
    const logs = await lockUnconfirmed(sql, { after, limit: chunk, only });
    const witnessed = await recall(
      redis.client,
      logs.map(({ domainId }) => domainId),
    );
    const judged = logs.map((own, at) => {
      const halted: Halted | null = isBehind(own, witnessed[at]) ? 'behind' : null;
      return { ...own, halted };
    });
    const fine = judged.filter(({ halted }) => halted === null);
    // before they resume: from now on an older copy of this database is recognized
    await remember(
      redis.client,
      fine.flatMap(({ domainId, log, checkpointSize, root }) =>
        root ? [{ domainId, log, size: checkpointSize, root }] : [],
      ),
    );
    await setHalted(sql, judged);
    for (const { domainId, log, checkpointSize } of fine) {
      await note({ act: 'log.confirm', subject: domainId, domainId, details: { log, size: checkpointSize } });
    }
    return judged;
  });
