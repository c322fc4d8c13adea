/**
 * The guard: a log whose database lacks what was signed before gets no positions and no signatures, so that nothing is
 * signed that contradicts it. Such a log is `behind` what Redis remembers; or `unconfirmed`, where Redis remembers nothing
 * of it and the server is another one.
 */

import { groupsOf } from '#libs/runtime/group-by';
import type { RedisConnection } from '#libs/runtime/redis';
import { listPublished, type Published, setHalted } from '#libs/store/logs/checkpoints';
import type { Halted } from '#libs/store/logs/heads';
import { currentServer, sealedOn, sealOn } from '#libs/store/logs/server';
import type { Database } from '#libs/store/sql';
import type { Log } from '#libs/telemetry/log';
import type { Metrics } from '#libs/telemetry/metrics';
import { isBehind, recall, remember, remembersAny } from '#libs/witness/witness';

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
  const [server, known] = await Promise.all([db.run(currentServer), db.run(sealedOn)]);
  const isAnother =
    known !== undefined && (known.systemIdentifier !== server.systemIdentifier || known.timeline !== server.timeline);
  const logs = await db.run(listPublished);
  const changes: { domainNumber: number; log: number; halted: Halted | null }[] = [];
  for (const some of groupsOf(logs, chunk)) {
    const witnessed = await recall(
      redis.client,
      some.map(({ domainId }) => domainId),
    );
    some.forEach((own, at) => {
      const halted = judge(own, witnessed[at], isAnother);
      if (halted !== own.halted) changes.push({ domainNumber: own.domainNumber, log: own.log, halted });
    });
  }
  await db.run((sql) => setHalted(sql, changes));
  if (isAnother || !known) await db.run((sql) => sealOn(sql, server));
  if (!(await remembersAny(redis.client)))
    await rememberAll(
      redis,
      logs.filter((own) => !isHalted(own, changes)),
    );
  const halted = logs.filter((own) => isHalted(own, changes)).length;
  metrics.logsHalted.set(halted);
  if (changes.some((change) => change.halted)) {
    log.error(
      { event: 'logs_halted', halted, domainNumbers: changes.slice(0, 5).map(({ domainNumber }) => domainNumber) },
      'Postgres lacks what was sealed before; these logs are not sealed on: see assent log status',
    );
  }
}

type Witnessed = Awaited<ReturnType<typeof recall>>[number];

function judge(own: Published, witnessed: Witnessed, isAnother: boolean): Halted | null {
  if (isBehind(own, witnessed)) return 'behind';
  // of one size there is one tree
  if (witnessed && witnessed.log === own.log && witnessed.size === own.checkpointSize && witnessed.root !== own.root) {
    return 'behind';
  }
  if (witnessed) return null;
  return own.size > 0 && (isAnother || own.halted === 'unconfirmed') ? 'unconfirmed' : null;
}

const isHalted = (own: Published, changes: { domainNumber: number; halted: Halted | null }[]): boolean =>
  (changes.find(({ domainNumber }) => domainNumber === own.domainNumber) ?? own).halted !== null;

/** Redis was emptied: what is published is remembered again. */
async function rememberAll(redis: RedisConnection, logs: Published[]): Promise<void> {
  const published = logs.flatMap(({ domainId, log, checkpointSize, root }) =>
    root ? [{ domainId, log, size: checkpointSize, root }] : [],
  );
  for (const some of groupsOf(published, chunk)) await remember(redis.client, some);
}
