/**
 * Deriving: epochs are closed, and what follows from their records is made of them, each derivation at its own pace and
 * none in the way of recording.
 */
import type { WorkerConfig } from '#libs/config/worker';
import type { RedisConnection } from '#libs/runtime/redis';
import { repeat } from '#libs/runtime/repeat';
import type { Clock } from '#libs/store/clock';
import { doneWith } from '#libs/store/epochs/derivations';
import { forgetEpochs, lastClosedEpoch } from '#libs/store/epochs/epochs';
import { facetsName } from '#libs/store/facets/through';
import { createVisitorHash } from '#libs/store/privacy/visitor-hash';
import type { Database, Sql } from '#libs/store/sql';
import type { Log } from '#libs/telemetry/log';
import type { Metrics } from '#libs/telemetry/metrics';
import { blanking } from './blank/blank.ts';
import { createBlanking } from './blank/blanking.ts';
import { createClearing, goOnErasing } from './blank/leftovers.ts';
import { createTelling } from './blank/telling.ts';
import { createClosing } from './close.ts';
import { createFacets } from './facets/facets.ts';
import { createNoticeCounting, noticeCounting } from './notices/counting.ts';
import { sealing } from './seal/seal.ts';
import { createSealing } from './seal/sealing.ts';
import { createTimestamping } from './timestamp/timestamping.ts';

/** seconds */
const unsealedEpoch = 60;
const timestampEvery = 10;
/** milliseconds */
const authorityPatience = 10_000;
/** an epoch after all others */
const endOfTime = 2 ** 31 - 1;

export interface DerivingParts {
  config: Pick<WorkerConfig, 'sealing' | 'timestampUrl' | 'privacyKey' | 'backupDays' | 'queueShards'>;
  /** fails fast */
  redis: RedisConnection;
  db: Database;
  clock: Pick<Clock, 'agrees'>;
  /** milliseconds between two rounds */
  pace: number;
  log: Log;
  metrics: Metrics;
}

/** The derivations that run with these settings. */
export const derivationsOf = ({ sealing: settings }: Pick<WorkerConfig, 'sealing'>): string[] => [
  blanking,
  ...(settings ? [sealing] : []),
  noticeCounting,
  facetsName,
];

export function createDeriving({ config, redis, db, clock, pace, log, metrics }: DerivingParts): {
  close(): Promise<void>;
} {
  const stopping = new AbortController();
  const epoch = config.sealing?.seconds ?? unsealedEpoch;
  metrics.epochInterval.set(epoch);
  const round = (task: string, run: () => Promise<void>, pause = pace) =>
    repeat(pause, run, (error) => log.warn({ err: error, task }, 'deriving failed, and is tried again'));
  const derivations: Record<string, (signal: AbortSignal) => Promise<void>> = {
    [blanking]: createBlanking({ db, privacyKey: config.privacyKey }),
    ...(config.sealing && { [sealing]: createSealing({ sealing: config.sealing, redis, db, log, metrics }) }),
    [noticeCounting]: createNoticeCounting(db),
    [facetsName]: createFacets(db),
  };
  const hashOf = config.privacyKey && createVisitorHash(config.privacyKey);
  const clear = createClearing({ config, hashOf, redis, db, clock });
  const timestamp = config.timestampUrl
    ? createTimestamping({ authority: { url: config.timestampUrl, patience: authorityPatience }, db, log, metrics })
    : undefined;
  if (!timestamp) metrics.timestampAge.set(0);
  const close = createClosing({ db, log, every: (epoch - 0.5) * pace });
  // when the last one was closed that all are done with says until when what they made is complete
  const forget = async (sql: Sql) => {
    const marks = await Promise.all(Object.keys(derivations).map((name) => doneWith(sql, name)));
    await forgetEpochs(sql, Math.min(endOfTime, ...marks));
  };
  const stops = [
    round('close', async () => {
      await close();
      await db.run(forget);
    }),
    ...Object.entries(derivations).map(([name, derive]) => {
      // the others begin an epoch only when blanking is done with it
      const through = name === blanking ? lastClosedEpoch : (sql: Sql) => doneWith(sql, blanking);
      return round(
        name,
        onceAnEpoch(db, () => derive(stopping.signal), through),
      );
    }),
    round('erase', () => goOnErasing(db, stopping.signal)),
    round('clear', onceAnEpoch(db, clear)),
    round('tell of erasures', createTelling({ redis, db })),
    // a round of its own: sealing does not wait for the authority
    ...(timestamp ? [round('timestamp', () => timestamp(stopping.signal), timestampEvery * pace)] : []),
  ];
  return {
    close: async () => {
      stopping.abort();
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

/** Another worker may be at it, and may end: so that a derivation also looks now and then. */
const idleFor = 10_000;

/** Does the work once for each epoch that it may go through, and whenever nothing was done for a while. */
function onceAnEpoch(db: Database, work: () => Promise<void>, through = lastClosedEpoch): () => Promise<void> {
  let done = -1;
  let doneAt = 0;
  return async () => {
    const epoch = await db.run(through);
    if (epoch === done && performance.now() < doneAt + idleFor) return;
    await work();
    done = epoch;
    doneAt = performance.now();
  };
}
