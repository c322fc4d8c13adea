/**
 * Waking: finds lanes that have something new to deliver: those of logs that have just grown, and once a minute any lane
 * that is behind its log. A round has a time limit, so that one large organization does not delay the others.
 */

import type { Database } from '#libs/base/db/database';
import { createPieceSize } from '#libs/epochs/piece-size';
import { addNewLanes, findNewestDomain, repairLanes, wakeGrown, wokenAtOnce } from './lanes.ts';

/** milliseconds */
const second = 1_000;
/** how far back a round looks for logs that grew */
const overlap = 10 * second;
/** from one comparison of all lanes to the next */
const compareEvery = 60 * second;
/** time limit of each of a round's two steps */
const roundTime = second / 4;
/** webhooks whose lanes are compared at once */
const comparedWebhooks = 100;

/** Returns a function that does one round, which also adds lanes of new domains. */
export function createWaking(db: Database): () => Promise<void> {
  const pieces = createPieceSize(comparedWebhooks);
  let comparedThrough = 0;
  let comparedAt = Number.NEGATIVE_INFINITY;
  let newestDomain: number | undefined;

  const compareSome = async () => {
    if (comparedThrough === 0 && performance.now() < comparedAt + compareEvery) return;
    const until = performance.now() + roundTime;
    do
      comparedThrough = await pieces.run(() =>
        repairLanes((work) => db.write(work), comparedThrough, pieces.maxRecords()),
      );
    while (comparedThrough > 0 && performance.now() < until);
    if (comparedThrough === 0) comparedAt = performance.now();
  };

  return async () => {
    const after = newestDomain ?? (await db.read(findNewestDomain));
    newestDomain = await db.write((sql) => addNewLanes(sql, after));
    const until = performance.now() + roundTime;
    for (let woken = wokenAtOnce; woken === wokenAtOnce && performance.now() < until; )
      woken = await db.write((sql) => wakeGrown(sql, overlap));
    await compareSome();
  };
}
