/**
 * Deriving: epochs are closed, and what follows from their records is made of them, each derivation at its own pace and
 * none in the way of recording.
 */
import type { WorkerConfig } from '#libs/config/worker';
import type { RedisConnection } from '#libs/runtime/redis';
import { repeat } from '#libs/runtime/repeat';
import { type Derivation, deriveNext, doneWith } from '#libs/store/epochs/derivations';
import { forgetEpochs, secondsBehind } from '#libs/store/epochs/epochs';
import type { Database } from '#libs/store/sql';
import type { Log } from '#libs/telemetry/log';
import type { Metrics } from '#libs/telemetry/metrics';
import { createClosing } from './close.ts';
import { createSealing } from './seal/sealing.ts';

/** milliseconds */
const second = 1_000;
const unsealedEpoch = 60 * second;

export interface DerivingParts {
  config: Pick<WorkerConfig, 'sealing'>;
  /** fails fast */
  redis: RedisConnection;
  db: Database;
  log: Log;
  metrics: Metrics;
}

export function createDeriving({ config, redis, db, log, metrics }: DerivingParts): { close(): Promise<void> } {
  const stopping = new AbortController();
  const every = config.sealing ? config.sealing.seconds * second : unsealedEpoch;
  const round = (task: string, run: () => Promise<void>) =>
    repeat(second, run, (error) => log.warn({ err: error, task }, 'deriving failed, and is tried again'));
  const stops = [round('close', createClosing({ db, log, every }))];
  if (config.sealing) {
    const seal = createSealing({ sealing: config.sealing, redis, db, log, metrics });
    stops.push(round('seal', () => seal(stopping.signal)));
  }
  return {
    close: async () => {
      stopping.abort();
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}
