/** Sealing, a round at a time: look at the logs, give positions, publish checkpoints. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#libs/base/db/database';
import type { Log } from '#libs/base/ops/process-log';
import type { RedisConnection } from '#libs/base/redis/connection';
import { createPieceSize, deriveNext, type Progress } from '#libs/record/derivations';
import type { ProofMetrics } from './metrics.ts';
import { createInspection } from './seal/halt.ts';
import { publish } from './seal/publish.ts';
import { createSeal } from './seal/seal.ts';
import { sealErasures, usualErasures } from './seal/seal-erasures.ts';
import { createSigner } from './seal/signer.ts';

/** Milliseconds after which a backlog's checkpoints are published before all of it is sealed. */
const publishEvery = 5_000;
/** Milliseconds that logs may catch up for that were halted, before what is closed of the others is sealed again. */
const catchUpTime = 5_000;
/** Milliseconds after which one that is about to catch up tries again, where another process seals just now. */
const elsewhereWait = 20;

interface SealingParts {
  /** `name`: what the origins of all logs begin with; `keys`: secret, newest first */
  sealing: { name: string; keys: Buffer[] };
  /** the derivation that has to be done with an epoch before it is sealed */
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
  /** the domain whose log caught up last */
  let caughtUp = 0;
  /** In turns: a log that has much to catch up with, or fails, keeps no other from it. Answers whether any log grew. */
  const catchUp = async (waiting: number[], signal: AbortSignal): Promise<boolean> => {
    const until = performance.now() + catchUpTime;
    const goesOn = () => !signal.aborted && performance.now() < until;
    const inTurn = [
      ...waiting.filter((number) => number > caughtUp),
      ...waiting.filter((number) => number <= caughtUp),
    ];
    const errors: unknown[] = [];
    let hasGrown = false;
    for (const domainNumber of inTurn) {
      if (!goesOn()) break;
      caughtUp = domainNumber;
      try {
        for (let progress: Progress = 'more'; progress !== 'done' && goesOn(); ) {
          progress = await seal.catchUp(domainNumber);
          if (progress === 'more') hasGrown = true;
          // workers that gave way to each other until the next round would catch up more slowly than logs grow
          if (progress === 'elsewhere') await sleep(elsewhereWait, undefined, { ref: false });
        }
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
    return hasGrown;
  };
  /** Answers whether there is more, to seal or to publish. */
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
