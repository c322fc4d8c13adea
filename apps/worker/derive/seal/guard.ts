/**
 * The guard: a log whose database lacks what was signed before gets no positions and no signatures, so that nothing is
 * signed that contradicts it. Such a log is `behind` what Redis remembers; or `unconfirmed`, where nobody can say whether
 * it is: Postgres is another server, and Redis is not sure to remember all.
 */

import { groupsOf } from '#libs/runtime/group-by';
import type { RedisConnection } from '#libs/runtime/redis';
import { listPublished, type Published, setHalted } from '#libs/store/logs/checkpoints';
import type { Halted } from '#libs/store/logs/heads';
import { currentServer, sealedOn, sealOn } from '#libs/store/logs/server';
import type { Database } from '#libs/store/sql';
import type { Log } from '#libs/telemetry/log';
import type { Metrics } from '#libs/telemetry/metrics';
import { isBehind, isWhole, noteWhole, recall, remember, type Witnessed, witnessServer } from '#libs/witness/witness';

/** logs in one question to Redis */
const chunk = 1_000;

export interface GuardParts {
  redis: RedisConnection;
  db: Database;
  log: Log;
  metrics: Metrics;
}

/** Compares every log with what Redis remembers, and halts or releases it. Rejects while Redis is away. */
export async function inspectLogs({ redis, db, log, metrics }: GuardParts): Promise<void> {
  const witness = witnessServer(redis);
  const [server, known] = await Promise.all([db.run(currentServer), db.run(sealedOn)]);
  const isAnother =
    known !== undefined && (known.systemIdentifier !== server.systemIdentifier || known.timeline !== server.timeline);
  const judged: Judged[] = [];
  for (const some of groupsOf(await db.run((sql) => listPublished(sql)), chunk)) {
    judged.push(...(await judgeAll(redis, db, some, isAnother)));
  }
  const changes = judged.filter(({ own, halted }) => halted !== own.halted);
  await db.run((sql) =>
    setHalted(
      sql,
      changes.map(({ own, halted }) => ({ domainNumber: own.domainNumber, log: own.log, halted })),
    ),
  );
  await rememberAll(
    redis,
    judged.flatMap(({ own, halted, witnessed }) => (halted === null && isNewer(own, witnessed) ? [own] : [])),
  );
  // of a halted one it may remember less than there was
  const isToldAll = judged.every(({ halted }) => halted === null);
  if (isToldAll && witness && !(await isWhole(redis))) await noteWhole(redis.client, witness);
  if (isAnother || !known) await db.run((sql) => sealOn(sql, server));
  const halted = judged.filter((each) => each.halted !== null).length;
  metrics.logsHalted.set(halted);
  if (changes.some((change) => change.halted)) {
    log.error(
      { event: 'logs_halted', halted, domainNumbers: changes.slice(0, 5).map(({ own }) => own.domainNumber) },
      'Postgres lacks, or may lack, what was sealed before; these logs are not sealed on: see assent log status',
    );
  }
}

interface Judged {
  own: Published;
  witnessed: Witnessed | undefined;
  halted: Halted | null;
}

async function judgeAll(redis: RedisConnection, db: Database, logs: Published[], isAnother: boolean) {
  const witnessed = await recall(
    redis.client,
    logs.map(({ domainId }) => domainId),
  );
  const trust = { isAnother, isSure: await isWhole(redis) };
  const judgeOne = (own: Published, at: number): Judged => ({
    own,
    witnessed: witnessed[at],
    halted: judge(own, witnessed[at], trust),
  });
  const judged = logs.map(judgeOne);
  const behind = judged.filter(({ halted }) => halted === 'behind').map(({ own }) => own.domainNumber);
  if (behind.length === 0) return judged;
  // another process may have sealed between the two reads; what Redis remembers was committed before it
  const again = new Map((await db.run((sql) => listPublished(sql, behind))).map((own) => [own.domainNumber, own]));
  return judged.map((each, at) => {
    const own = again.get(each.own.domainNumber);
    return own ? judgeOne(own, at) : each;
  });
}

/** `isAnother`: Postgres. `isSure`: Redis remembers all. */
interface Trust {
  isAnother: boolean;
  isSure: boolean;
}

function judge(own: Published, witnessed: Witnessed | undefined, { isAnother, isSure }: Trust): Halted | null {
  if (isBehind(own, witnessed)) return 'behind';
  // of one size there is one tree
  if (witnessed && witnessed.log === own.log && witnessed.size === own.checkpointSize && witnessed.root !== own.root) {
    return 'behind';
  }
  // until somebody confirms or restarts it
  if (own.halted === 'unconfirmed') return 'unconfirmed';
  const mayLack = own.halted === 'behind' || (isAnother && own.size > 0);
  return mayLack && !isSure ? 'unconfirmed' : null;
}

const isNewer = ({ log, checkpointSize }: Published, witnessed: Witnessed | undefined): boolean =>
  !witnessed || log > witnessed.log || (log === witnessed.log && checkpointSize > witnessed.size);

/** Redis was emptied, or another one took over: what it does not know is remembered again. */
async function rememberAll(redis: RedisConnection, logs: Published[]): Promise<void> {
  const published = logs.flatMap(({ domainId, log, checkpointSize, root }) =>
    root ? [{ domainId, log, size: checkpointSize, root }] : [],
  );
  for (const some of groupsOf(published, chunk)) await remember(redis.client, some);
}
