/** Closes epochs on time: it waits for whoever stores records under one, and nobody waits for it. */

import type { Database } from '#libs/base/db/database';
import type { Log } from '#libs/base/ops/process-log';
import { closeEpoch, endConnection, listInTheWay } from './epochs.ts';

/** milliseconds */
const patience = { first: 200, most: 5_000 };

export interface ClosingParts {
  db: Database;
  log: Pick<Log, 'warn' | 'error'>;
  /** Milliseconds that an epoch stays open at least: all workers try, and a round that comes a moment too early leaves it to the next. */
  every: number;
  /** Seconds after which a connection of ours that is still in the way is ended. */
  longest?: number;
}

/** Returns a round, to be called once a second. */
export function createClosing({ db, log, every, longest = 30 }: ClosingParts): () => Promise<void> {
  let wait = patience.first;
  return async () => {
    const closing = await closeEpoch(db, { every, patience: wait });
    if (closing === 'closed') wait = patience.first;
    if (closing !== 'in the way') return;
    wait = Math.min(wait * 2, patience.most);
    const inTheWay = await db.run(listInTheWay);
    log.warn(
      { event: 'epoch_stays_open', inTheWay },
      'an epoch could not be closed: records are being stored for long',
    );
    for (const { pid, name, seconds, waitsForStandby } of inTheWay) {
      if (seconds < longest || waitsForStandby || !name.startsWith('assent-')) continue;
      if (await db.run((sql) => endConnection(sql, pid)))
        log.error({ event: 'connection_ended', pid, name, seconds }, 'ended a connection that kept an epoch open');
    }
  };
}
