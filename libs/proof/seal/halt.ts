/**
 * A log whose database lacks what was signed before gets no positions and no signatures, so that nothing is signed that
 * contradicts it. A log is `behind` if Redis remembers more of it, or another root. It is `unconfirmed` if this cannot be
 * ruled out, because Postgres is another server and Redis may not remember everything.
 */

import type { Database } from '#libs/base/db/database';
import { isSame } from '#libs/base/db/server';
import type { Log } from '#libs/base/ops/process-log';
import type { RedisConnection } from '#libs/base/redis/connection';
import { type Halted, type Head, noteServer, readSealing, type SealingState } from '../heads.ts';
import type { ProofMetrics } from '../metrics.ts';
import { isBehind, isWhole, noteWhole, recall, remember, type Witnessed, witnessServer } from '../witness.ts';
import { type LogProgress, listProgress, nextProgress, setHalted } from './checkpoints.ts';

/** logs per query to Postgres and Redis, and per round while neither has changed */
const chunk = 1_000;

interface InspectionParts {
  redis: RedisConnection;
  db: Database;
  log: Log;
  metrics: ProofMetrics;
}

/**
 * Returns a round, which compares logs with what Redis remembers, and halts or releases them: all of them if Postgres or
 * Redis has changed since all were compared, otherwise the next 1,000. It returns the state of sealing, and rejects while
 * Redis is unavailable.
 */
export function createInspection({ redis, db, log, metrics }: InspectionParts): () => Promise<SealingState> {
  /** both servers when all logs were compared last */
  let compared: string | undefined;
  let after = 0;
  let hasChanged = false;

  /** Compares the next logs with what Redis remembers. */
  const inspect = async (isAnother: boolean): Promise<Judged[]> => {
    const judged = await judgeAll(redis, db, await db.read((sql) => nextProgress(sql, after, chunk)), isAnother);
    const changes = judged.filter(({ own, halted }) => halted !== own.halted);
    if (changes.length > 0) {
      const logs = changes.map(({ own, halted }) => ({ domainNumber: own.domainNumber, log: own.log, halted }));
      await db.write((sql) => setHalted(sql, logs));
      hasChanged = true;
    }
    await rememberAll(
      redis,
      judged.flatMap(({ own, halted, witnessed }) => (halted === null && isNewer(own, witnessed) ? [own] : [])),
    );
    after = judged.length === chunk ? (judged.at(-1)?.own.domainNumber ?? 0) : 0;
    const halted = changes.flatMap((change) => (change.halted ? [change.own.domainNumber] : []));
    if (halted.length > 0) {
      log.error(
        { event: 'logs_halted', halted: halted.length, domainNumbers: halted.slice(0, 5) },
        'Postgres lacks, or may lack, what was sealed before; these logs are not sealed on: see assent log status',
      );
    }
    return judged;
  };

  const inspectAll = async (isAnother: boolean, witness: string | undefined): Promise<void> => {
    // of a halted log, Redis may remember less than was signed
    let isWholeNow = true;
    after = 0;
    do {
      for (const { halted } of await inspect(isAnother)) isWholeNow &&= halted === null;
    } while (after > 0);
    if (isWholeNow && witness && !(await isWhole(redis))) await noteWhole(redis.client, witness);
  };

  return async () => {
    const witness = witnessServer(redis);
    hasChanged = false;
    const state = await db.read(readSealing);
    const { server, sealedOn: known } = state;
    const isAnother = known !== undefined && !isSame(known, server);
    const both = JSON.stringify([server, witness]);
    if (both !== compared || isAnother || !(await isWhole(redis))) {
      await inspectAll(isAnother, witness);
      if (known?.database !== server.database || known.table !== server.table || isAnother)
        await db.write((sql) => noteServer(sql, server));
      compared = both;
    } else await inspect(isAnother);
    const now = hasChanged ? await db.read(readSealing) : state;
    metrics.logsHalted.set(now.halted);
    return now;
  };
}

interface Judged {
  own: LogProgress;
  witnessed: Witnessed | undefined;
  halted: Halted | null;
}

async function judgeAll(redis: RedisConnection, db: Database, logs: LogProgress[], isAnother: boolean) {
  const witnessed = await recall(
    redis.client,
    logs.map(({ domainId }) => domainId),
  );
  const trust = { isAnother, isSure: await isWhole(redis) };
  const judgeOne = (own: LogProgress, at: number): Judged => ({
    own,
    witnessed: witnessed[at],
    halted: judge(own, witnessed[at], trust),
  });
  const judged = logs.map(judgeOne);
  const behind = judged.filter(({ halted }) => halted === 'behind').map(({ own }) => own.domainNumber);
  if (behind.length === 0) return judged;
  // another process may have sealed and published between the two reads; entries are committed before Redis remembers them,
  // so a second read of Postgres finds them
  const again = new Map((await db.read((sql) => listProgress(sql, behind))).map((own) => [own.domainNumber, own]));
  return judged.map((each, at) => {
    const own = again.get(each.own.domainNumber);
    return own ? judgeOne(own, at) : each;
  });
}

/** `isAnother`: Postgres is not the server that sealed last. `isSure`: Redis is known to remember every log. */
interface Trust {
  isAnother: boolean;
  isSure: boolean;
}

function judge(own: LogProgress, witnessed: Witnessed | undefined, { isAnother, isSure }: Trust): Halted | null {
  if (isBehind(own, witnessed)) return 'behind';
  // the same size with another root is another tree
  if (witnessed && witnessed.log === own.log && witnessed.size === own.checkpointSize && witnessed.root !== own.root) {
    return 'behind';
  }
  // until somebody confirms or restarts it
  if (own.halted === 'unconfirmed') return 'unconfirmed';
  const mayLack = own.halted === 'behind' || (isAnother && own.size > 0);
  return mayLack && !isSure ? 'unconfirmed' : null;
}

const isNewer = ({ log, checkpointSize }: LogProgress, witnessed: Witnessed | undefined): boolean =>
  !witnessed || log > witnessed.log || (log === witnessed.log && checkpointSize > witnessed.size);

/** Redis was emptied, or another one took over: what it does not know is remembered again. */
async function rememberAll(redis: RedisConnection, logs: LogProgress[]): Promise<void> {
  const published = logs.flatMap(({ domainId, log, checkpointSize, root }) =>
    root ? [{ domainId, log, size: checkpointSize, root }] : [],
  );
  await remember(redis.client, published);
}

/** Those logs that may grow: they are not halted, and have every entry that Redis remembers. */
export async function growable(redis: RedisConnection, heads: Head[]): Promise<Head[]> {
  const witnessed = await recall(
    redis.client,
    heads.map(({ domainId }) => domainId),
  );
  return heads.filter((head, at) => !head.halted && !isBehind(head, witnessed[at]));
}

/** Of those, the logs that need not catch up with earlier epochs first. */
export const caughtUp = async (redis: RedisConnection, heads: Head[]): Promise<Head[]> =>
  (await growable(redis, heads)).filter(({ waitsFrom }) => waitsFrom === null);
