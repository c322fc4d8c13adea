/**
 * Deriving: epochs are closed, and what follows from their records is made of them, each derivation at its own pace and
 * none in the way of recording.
 */
import type { WorkerConfig } from '#libs/config/worker';
import type { RedisConnection } from '#libs/runtime/redis';
import { repeat } from '#libs/runtime/repeat';
import { doneWith } from '#libs/store/epochs/derivations';
import { forgetEpochs, secondsBehind } from '#libs/store/epochs/epochs';
import type { Database } from '#libs/store/sql';
import type { Log } from '#libs/telemetry/log';
import type { Metrics } from '#libs/telemetry/metrics';
import { createClosing } from './close.ts';
import { sealing } from './seal/seal.ts';
import { createSealing } from './seal/sealing.ts';
import { createTimestamping } from './timestamp/timestamping.ts';

/** milliseconds */
const second = 1_000;
const unsealedEpoch = 60 * second;
const timestampEvery = 10 * second;
const authorityPatience = 10 * second;
/** an epoch after all others */
const endOfTime = 2 ** 31 - 1;

export interface DerivingParts {
  config: Pick<WorkerConfig, 'sealing' | 'timestampUrl'>;
  /** fails fast */
  redis: RedisConnection;
  db: Database;
  log: Log;
  metrics: Metrics;
}

/** The derivations that run with these settings. */
export const derivationsOf = ({ sealing: settings }: Pick<WorkerConfig, 'sealing'>): string[] =>
  settings ? [sealing] : [];

export function createDeriving({ config, redis, db, log, metrics }: DerivingParts): { close(): Promise<void> } {
  const stopping = new AbortController();
  const every = config.sealing ? config.sealing.seconds * second : unsealedEpoch;
  const behind = (name: string) => db.run(async (sql) => secondsBehind(sql, await doneWith(sql, name)));
  const forget = (names: string[]) =>
    db.run(async (sql) =>
      forgetEpochs(sql, Math.min(...(await Promise.all(names.map((name) => doneWith(sql, name)))), endOfTime)),
    );
  const round = (task: string, run: () => Promise<void>, pause = second) =>
    repeat(pause, run, (error) => log.warn({ err: error, task }, 'deriving failed, and is tried again'));
  const derivations: Record<string, (signal: AbortSignal) => Promise<void>> = config.sealing
    ? { [sealing]: createSealing({ sealing: config.sealing, redis, db, log, metrics }) }
    : {};
  const timestamp = config.timestampUrl
    ? createTimestamping({ authority: { url: config.timestampUrl, patience: authorityPatience }, db, log, metrics })
    : undefined;
  const close = createClosing({ db, log, every });
  const stops = [
    round('close', async () => {
      await close();
      await forget(Object.keys(derivations));
    }),
    ...Object.entries(derivations).map(([name, derive]) =>
      round(name, async () => {
        await derive(stopping.signal);
        metrics.derivationLag.set({ derivation: name }, await behind(name));
      }),
    ),
    // a round of its own: sealing does not wait for the authority
    ...(timestamp ? [round('timestamp', () => timestamp(stopping.signal), timestampEvery)] : []),
  ];
  return {
    close: async () => {
      stopping.abort();
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}
