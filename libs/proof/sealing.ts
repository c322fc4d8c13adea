/** A round of sealing: read the logs' state, assign positions, publish checkpoints. */

import type { Database } from '#libs/base/db/database';
import type { Log } from '#libs/base/ops/process-log';
import type { RedisConnection } from '#libs/base/redis/connection';
import { deriveNext } from '#libs/epochs/derivations';
import { createPieceSize } from '#libs/epochs/piece-size';
import type { ProofMetrics } from './metrics.ts';
import { createCatchingUp } from './seal/catching-up.ts';
import { createInspection } from './seal/halt.ts';
import { publish } from './seal/publish.ts';
import { createSeal } from './seal/seal.ts';
import { sealErasures, usualErasures } from './seal/seal-erasures.ts';
import { createSigner } from './seal/signer.ts';

/** While a backlog is being sealed, checkpoints are published this often, in milliseconds. */
const publishEvery = 5_000;

interface SealingParts {
  /** `name`: prefix of all logs' origins; `keys`: secret, newest first */
  sealing: { name: string; keys: Buffer[] };
  /** the derivation that must complete an epoch before it is sealed */
  after: string;
  /** fails fast */
  redis: RedisConnection;
  db: Database;
  log: Log;
  metrics: ProofMetrics;
}

export function createSealing({ sealing, after, ...parts }: SealingParts): (signal: AbortSignal) => Promise<void> {
  const { db, redis, metrics } = parts;
  const inspectLogs = createInspection(parts);
  const signer = createSigner(sealing.keys);
  const entering = { redis, db, metrics, originOf: (domainId: string) => `${sealing.name}/${domainId}` };
  const seal = createSeal({ ...entering, after });
  const erasing = { ...entering, size: createPieceSize(usualErasures) };
  const catchUp = createCatchingUp(seal);
  /** Returns whether there is more to seal or to publish. */
  const round = async (signal: AbortSignal): Promise<boolean> => {
    const { waiting, isAnyErased } = await inspectLogs();
    let published = performance.now();
    while (!signal.aborted && (await deriveNext(db, seal)) === 'more') {
      if (performance.now() < published + publishEvery) continue;
      await publish({ db, redis, signer, metrics });
      published = performance.now();
    }
    while (isAnyErased && !signal.aborted && (await sealErasures(erasing)) === 'more');
    await publish({ db, redis, signer, metrics });
    return waiting.length > 0 && catchUp(waiting, signal);
  };
  return async (signal) => {
    while ((await round(signal)) && !signal.aborted);
  };
}
