/**
 * Has the newest checkpoints of all domains time-stamped, once a UTC day: one request over the root of a tree of them,
 * whatever the number of domains. A domain's path in that tree has hashes of others, and nothing else of them.
 */
import { randomInt } from 'node:crypto';
import type { Database } from '#libs/base/db/database';
import type { Log } from '#libs/base/ops/process-log';
import { sha256 } from '#libs/base/sha256';
import type { ProofMetrics } from './metrics.ts';
import { type Authority, askForToken } from './timestamps/authority.ts';
import { addTimestamp, listLeaves } from './timestamps/stamped-checkpoints.ts';
import { endTries, takeTry, timestampAge } from './timestamps/tries.ts';
import { utf8 } from './tree/bytes.ts';
import { leafHash } from './tree/hash.ts';
import { wholeTree } from './tree/make-proofs.ts';

/** Milliseconds: not all installations ask at midnight. */
const spread = 60 * 60 * 1_000;

interface TimestampingParts {
  authority: Authority;
  db: Database;
  log: Pick<Log, 'info' | 'warn'>;
  metrics: ProofMetrics;
}

/** Returns a round, to be called every few seconds by every worker. */
export function createTimestamping(parts: TimestampingParts): (signal: AbortSignal) => Promise<void> {
  const { db, log, metrics } = parts;
  const round = async (signal: AbortSignal) => {
    const taken = await db.write(takeTry);
    if (taken) {
      try {
        const made = await stamp(parts, signal);
        if (made) log.info({ event: 'timestamped', ...made }, 'the newest checkpoints were time-stamped');
      } catch (error) {
        // the next try is another worker's
        if (signal.aborted) return;
        const { failures, nextTryAt } = taken;
        log.warn(
          { event: 'not_timestamped', err: error, failures: failures + 1, nextTryAt },
          'the newest checkpoints were not time-stamped, and this is tried again',
        );
      }
    }
    metrics.timestampAge.set(await db.read(timestampAge));
  };
  return (signal) =>
    round(signal).catch((error: unknown) => {
      // an old value would say that all is as it was
      metrics.timestampAge.remove();
      throw error;
    });
}

/** Undefined where nothing was published since the last time. */
async function stamp({ authority, db }: TimestampingParts, signal: AbortSignal) {
  const checkpoints = await db.read(listLeaves);
  const isDue = checkpoints.some(({ isNew }) => isNew);
  if (isDue) {
    const { root, paths } = wholeTree(
      sha256,
      checkpoints.map(({ body }) => leafHash(sha256, utf8(body))),
    );
    const token = await askForToken(authority, root, signal);
    const leaves = checkpoints.map((leaf, place) => ({ ...leaf, place, path: paths[place] ?? [] }));
    const fresh = leaves.filter(({ isNew }) => isNew);
    await db.transaction((sql) => addTimestamp(sql, { root, size: leaves.length, token }, fresh));
  }
  await db.write((sql) => endTries(sql, randomInt(spread)));
  return isDue ? { checkpoints: checkpoints.length } : undefined;
}
