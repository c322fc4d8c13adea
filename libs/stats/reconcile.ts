/** Fills organizations without a ready mark; drops and fills counters that differ from Postgres. */

import pLimit from 'p-limit';
import { Batcher } from '#libs/base/batcher';
import type { Reads } from '#libs/base/db/database';
import { currentServer } from '#libs/base/db/server';
import { groupBy } from '#libs/base/group-by';
import type { Log } from '#libs/base/ops/process-log';
import type { RedisClient } from '#libs/base/redis/connection';
import { addDays, dayOf } from '#libs/base/terms/calendar';
import { atOnce, eachOrganization, type RepairParts } from './each-organization.ts';
import { confirm, type Difference, type Suspicion, suspect, WrongTypeKey } from './redis/drift.ts';
import { fill, readyAmong } from './redis/fill.ts';
import { drop, hasWrongType } from './redis-counters.ts';
import { countersOfSmall, countersSince, listCounters, nextOrganizationIds } from './stored-counters.ts';

/** Days that records may still arrive for, with a margin. */
const watchedDays = 32;
const everything = '0000-00-00';
/** Milliseconds that a raise may be pending. */
const raisePatience = 1_000;
/** organizations per page, and per round of `fillMissing` */
const page = 1_000;
const piece = 5_000;
/** Organizations that are compared at once: while Redis compares some, Postgres reads the counters of others. */
const comparedAtOnce = 200;
/**
 * Once this many organizations are suspected, the round repairs them before it goes on: after a restore, all may differ.
 */
const mostSuspicions = 5_000;
/** Milliseconds after which a round leaves the rest to the next one. */
const longest = 10_000;

/**
 * Fills organizations without a mark, so that their statistics come from Redis before anybody reads them. Returns the
 * organization after which the next round begins. A round looks at the `piece` organizations that follow `after`. Each page
 * with organizations to fill, as after a flush of Redis, extends the round: it ends only after four further pages without
 * any, or after the last organization.
 */
export async function fillMissing(parts: RepairParts, signal: AbortSignal, after = ''): Promise<string> {
  let last = after;
  for (let looked = 0; looked < piece && !signal.aborted; looked += page) {
    const ids = await nextPage(parts, last);
    const ready = await readyAmong(parts.redis, ids);
    const missing = ids.filter((id) => !ready.has(id));
    await eachOrganization(parts, missing, signal, (id) => fillAnyway(parts, id));
    if (missing.length > 0) looked = 0;
    last = nextAfter(ids);
    if (last === '') break;
  }
  return last;
}

const nextPage = ({ db }: RepairParts, after: string): Promise<string[]> =>
  db.read((sql) => nextOrganizationIds(sql, after, page));

/** '' after the last one: the next round begins at the first. */
const nextAfter = (ids: string[]): string => (ids.length === page ? (ids.at(-1) ?? '') : '');

/**
 * Compares marked organizations with Postgres and repairs drift: from `after` on, for up to `longest` milliseconds, in
 * periods that still get records. If Postgres is another server than before, it covers every organization and every period
 * instead. Returns the organization after which the next round begins.
 */
export async function reconcile(
  parts: RepairParts,
  signal: AbortSignal,
  { patience = raisePatience, after = '' } = {},
): Promise<string> {
  const { client } = parts.redis;
  const { systemIdentifier, timeline, database, table } = await parts.db.read(currentServer);
  const server = [systemIdentifier, timeline, database, table].join(' ');
  if ((await notedServer(client)) === server) {
    const since = addDays(dayOf(Date.now()), -watchedDays);
    return (await compareFrom(parts, signal, { since, patience, after, within: longest })).next;
  }
  const whole = { since: everything, patience, after: '', within: Number.POSITIVE_INFINITY };
  const { failed } = await compareFrom(parts, signal, whole);
  if (failed === 0 && !signal.aborted) await noteServer(client, server);
  return '';
}

interface Comparing {
  /** `YYYY-MM-DD`: older periods are not compared */
  since: string;
  patience: number;
  /** the organization after which it begins */
  after: string;
  /** milliseconds after which it starts no further page */
  within: number;
}

async function compareFrom(
  parts: RepairParts,
  signal: AbortSignal,
  { since, patience, after, within }: Comparing,
): Promise<{ next: string; failed: number }> {
  const { redis, db, log } = parts;
  const end = performance.now() + within;
  const suspicions: Suspicion[] = [];
  const strange: string[] = [];
  let [next, failed] = [after, 0];
  const small = new Batcher({
    run: (ids: string[]) => db.read((sql) => countersOfSmall(sql, ids, since)),
    maxBatch: comparedAtOnce / 2,
    maxPending: Number.POSITIVE_INFINITY,
  });
  // reads for large organizations run only `atOnce` at a time, as repairs do
  const turns = pLimit(atOnce);
  const inTurn: Reads = { read: (work, how) => turns(() => db.read(work, how)) };
  const compareOne = async (organizationId: string) => {
    const listFew = async () => (await small.add(organizationId)).get(organizationId);
    const truth = { ...countersSince(inTurn, organizationId, since), listFew };
    try {
      const suspicion = await suspect(redis, { organizationId, since, truth });
      if (suspicion.hashes.length > 0) suspicions.push(suspicion);
    } catch (error) {
      if (!(error instanceof WrongTypeKey)) throw error;
      reportStrange(log, organizationId, error);
      strange.push(organizationId);
    }
  };
  const repair = async () => {
    const drifted = groupBy(await confirm(redis, suspicions.splice(0), patience), (each) => each.organizationId);
    for (const [organizationId, differences] of drifted) report(parts, organizationId, differences);
    const wrong = [...strange.splice(0), ...drifted.keys()];
    failed += await eachOrganization(parts, wrong, signal, async (organizationId) => {
      await drop(redis.client, organizationId);
      await fillOrganization(parts, organizationId);
    });
  };
  do {
    const ids = await nextPage(parts, next);
    const ready = await readyAmong(redis, ids);
    failed += await eachOrganization(parts, [...ready], signal, compareOne, comparedAtOnce);
    // Also drop and refill organizations without a mark: their counters may come from another Postgres and be too high, and
    // a fill never lowers one.
    if (since === everything) strange.push(...ids.filter((id) => !ready.has(id)));
    next = nextAfter(ids);
    if (suspicions.length >= mostSuspicions) await repair();
  } while (next !== '' && !signal.aborted && performance.now() < end);
  if (signal.aborted) return { next: after, failed };
  await repair();
  return { next, failed };
}

const reportStrange = (log: Log, organizationId: string, err: unknown) =>
  log.error({ organizationId, err }, 'a key in Redis is no counter; rebuilding them');

function report({ log, metrics }: RepairParts, organizationId: string, differences: Difference[]): void {
  metrics.drift.inc(differences.length);
  log.error(
    { organizationId, differences: differences.slice(0, 5), count: differences.length },
    'counters differ from Postgres; rebuilding them',
  );
}

/** Fills an organization. If that fails because a key has the wrong type, drops the counters and fills again. */
async function fillAnyway(parts: RepairParts, organizationId: string): Promise<void> {
  try {
    await fillOrganization(parts, organizationId);
  } catch (error) {
    if (!hasWrongType(error)) throw error;
    reportStrange(parts.log, organizationId, error);
    await drop(parts.redis.client, organizationId);
    await fillOrganization(parts, organizationId);
  }
}

async function fillOrganization({ redis, db, metrics }: RepairParts, organizationId: string): Promise<void> {
  const list: Parameters<typeof fill>[2] = (after, limit) =>
    db.read((sql) => listCounters(sql, organizationId, after, limit));
  if (await fill(redis, organizationId, list)) metrics.fills.inc();
}

/**
 * Key that holds the Postgres server that all counters were last compared with. If Postgres is now another server, counts
 * may be lower in any period, so all periods are compared again.
 */
const serverKey = 'assent:counters:server';

/** Null if none was stored, or Redis was flushed. */
const notedServer = (client: RedisClient): Promise<string | null> => client.get(serverKey);

/** `server`: the one that all counters were compared with. */
export const noteServer = (client: RedisClient, server: string): Promise<unknown> => client.set(serverKey, server);
