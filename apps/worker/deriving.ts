/** Closes epochs and runs the derivations of their records, each at its own pace. */

import type { Clock } from '#libs/base/db/clock';
import type { Database, Sql } from '#libs/base/db/database';
import type { Log } from '#libs/base/ops/process-log';
import type { RedisConnection } from '#libs/base/redis/connection';
import type { Scheduler } from '#libs/base/scheduler';
import { deleteClosingTimes, lastClosedEpoch } from '#libs/epochs/closed-epochs';
import { createClosing } from '#libs/epochs/closing';
import { isBehindBy, lastEpochDone } from '#libs/epochs/derivations';
import { createNoticeCounting, noticeCounting } from '#libs/notices/counting';
import { blankingName, createBlanking } from '#libs/privacy/blanking';
import { createClearing, goOnErasing } from '#libs/privacy/leftovers';
import { createTombstoneCopy } from '#libs/privacy/tombstones-in-redis';
import { sealing } from '#libs/proof/heads';
import type { ProofMetrics } from '#libs/proof/metrics';
import { createSealing } from '#libs/proof/sealing';
import { createTimestamping } from '#libs/proof/timestamping';
import type { RecordMetrics } from '#libs/record/metrics';
import { createFacets } from '#libs/stats/facet-derivation';
import { facetsName } from '#libs/stats/facets';
import { createVisitorHash } from '#libs/tenants/visitors';
import type { WorkerConfig } from '../settings/worker.ts';

/** seconds */
const unsealedEpoch = 60;
/**
 * Seconds. A derivation with `spans` waits until it is this far behind and then derives the epochs together: each
 * transaction has a fixed cost, however few records it covers.
 */
const span = 15;
const timestampEvery = 10;
/** milliseconds */
const authorityPatience = 10_000;

interface DerivingParts {
  config: Pick<WorkerConfig, 'sealing' | 'timestampUrl' | 'privacyKey' | 'backupDays' | 'queueShards'>;
  /** fails fast */
  redis: RedisConnection;
  db: Database;
  clock: Pick<Clock, 'steadyFor'>;
  /** how many milliseconds count as a second; also the usual pause between two rounds */
  second: number;
  log: Log;
  metrics: ProofMetrics & RecordMetrics;
}

interface DerivationEntry {
  name: string;
  /** the one that has to be done with an epoch before this one begins it */
  after?: string;
  /** derives several epochs at once; see `span` */
  spans?: boolean;
  begin(parts: DerivingParts): (signal: AbortSignal) => Promise<void>;
}

/** The derivations that run with these settings. */
export const derivationsOf = ({ sealing: settings }: Pick<WorkerConfig, 'sealing'>): DerivationEntry[] => [
  { name: blankingName, begin: ({ db, config }) => createBlanking({ db, privacyKey: config.privacyKey }) },
  ...(settings ? [sealingWith(settings)] : []),
  { name: noticeCounting, spans: true, begin: ({ db }) => createNoticeCounting(db) },
  { name: facetsName, after: blankingName, spans: true, begin: ({ db }) => createFacets(db, blankingName) },
];

const sealingWith = (settings: NonNullable<WorkerConfig['sealing']>): DerivationEntry => ({
  name: sealing,
  after: blankingName,
  begin: (parts) => createSealing({ ...parts, sealing: settings, after: blankingName }),
});

export function scheduleDeriving({ every }: Pick<Scheduler, 'every'>, parts: DerivingParts): void {
  const { config, redis, db, clock, second, log, metrics } = parts;
  const epoch = config.sealing?.seconds ?? unsealedEpoch;
  metrics.epochInterval.set(epoch);
  const derivations = derivationsOf(config);
  // Every process runs these rounds. Only `clear` takes a lease; without one, no process waits for another that hangs but
  // still holds it. Derivations lock their row in `derivations` (their mark), so two processes never do the same part.
  const round = (name: string, task: (signal: AbortSignal) => Promise<void>, pace = second, one = false) =>
    every({
      name,
      pace,
      exclusive: one,
      task,
      failed: (error, isNews) => {
        if (isNews) log.warn({ err: error, task: name }, 'deriving failed, and is tried again');
      },
    });
  const hashOf = config.privacyKey && createVisitorHash(config.privacyKey);
  const clear = createClearing({ config, hashOf, redis, db, clock });
  const timestamp = config.timestampUrl
    ? createTimestamping({ authority: { url: config.timestampUrl, timeout: authorityPatience }, db, log, metrics })
    : undefined;
  if (!timestamp) metrics.timestampAge.set(0);
  const close = createClosing({ db, log, pace: (epoch - 0.5) * second });
  // old closing times are deleted, but not that of the last epoch that all derivations have finished: derived figures are
  // complete up to that time
  const names = derivations.map(({ name }) => name);
  round('close', async () => {
    if (await close()) await db.write((sql) => deleteClosingTimes(sql, names));
  });
  for (const { name, after, spans, begin } of derivations) {
    const through = after === undefined ? lastClosedEpoch : (sql: Sql) => lastEpochDone(sql, after);
    const derive = onceAnEpoch(db, begin(parts), through);
    const isDue = (sql: Sql) => isBehindBy(sql, name, span * second);
    round(name, async (signal) => {
      if (!spans || (await db.read(isDue))) await derive(signal);
    });
  }
  round('erase', (signal) => goOnErasing(db, signal));
  // one process looks through the jobs in queues
  round('clear', clear, Math.min(epoch * second, recheckEvery), true);
  round('tell_erasures', createTombstoneCopy({ redis, db }));
  // a round of its own: sealing does not wait for the authority
  if (timestamp) round('timestamp', timestamp, timestampEvery * second);
}

/**
 * Milliseconds after which a derivation looks again even without a new epoch: the worker that had taken the last one may
 * have ended before it was finished.
 */
const recheckEvery = 10_000;

/**
 * Returns a round that does the work when `through` has moved to another epoch, and otherwise only if `recheckEvery` has
 * passed since the work was last done.
 */
function onceAnEpoch(
  db: Database,
  work: (signal: AbortSignal) => Promise<void>,
  through = lastClosedEpoch,
): (signal: AbortSignal) => Promise<void> {
  let done = -1;
  let doneAt = 0;
  return async (signal) => {
    const epoch = await db.read(through);
    if (epoch === done && performance.now() < doneAt + recheckEvery) return;
    await work(signal);
    done = epoch;
    doneAt = performance.now();
  };
}
