/** Organizations without a mark are filled; counters that differ from Postgres are dropped and filled. */

import pLimit from 'p-limit';
import { Batcher } from '#libs/base/batcher';
import type { Reads } from '#libs/base/db/database';
import { currentServer } from '#libs/base/db/server';
import { groupBy } from '#libs/base/group-by';
import type { Log } from '#libs/base/ops/process-log';
import type { RedisClient } from '#libs/base/redis/connection';
import { addDays, dayOf } from '#libs/base/terms/calendar';
import { atOnce, eachOrganization, type RepairParts } from './each-organization.ts';
import { confirm, type Difference, StrangeKey, type Suspicion, suspect } from './redis/drift.ts';
import { fill, readyAmong } from './redis/fill.ts';
import { drop, isStrange } from './redis-counters.ts';
import { countersOfSmall, countersSince, listCounters, nextOrganizationIds } from './stored-counters.ts';

/** Days that records may still arrive for, and a little more. */
const watchedDays = 32;
const everything = '0000-00-00';
/** Milliseconds that a raise may be on its way. */
const raisePatience = 1_000;
/** organizations that are listed at once, and that a round looks at for their marks */
const page = 1_000;
const piece = 5_000;
/** Organizations that are compared at once: while Redis compares some, Postgres reads the counters of others. */
const comparedAtOnce = 200;
/** With so many a round does not wait for its end: after a restore all may differ. */
const mostSuspicions = 5_000;
/** Milliseconds after which a round leaves the other organizations to the next one. */
const longest = 10_000;

/**
 * Fills organizations that lack their mark, so that their statistics come from Redis before anybody asks. A round looks at
 * a piece of them, those after `after`, and goes on for as long as it finds some: then Redis was emptied. Returns after
 * which one the next round has to begin.
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

/** '' behind the last one: then it begins again. */
const nextAfter = (ids: string[]): string => (ids.length === page ? (ids.at(-1) ?? '') : '');

/**
 * Compares organizations that have their mark with Postgres, and repairs what drifted: a piece of them in the periods that
 * records may arrive for, those after `after`. On another Postgres than before it compares all of them in every period.
 * Returns after which one the next round has to begin.
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
  /** `YYYY-MM-DD`: older periods are not looked at */
  since: string;
  patience: number;
  /** the organization after which it begins */
  after: string;
  /** milliseconds after which no further page is begun */
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
  // of large ones fewer at once, as of all that is repaired
  const turns = pLimit(atOnce);
  const inTurn: Reads = { read: (work, how) => turns(() => db.read(work, how)) };
  const compareOne = async (organizationId: string) => {
    const listFew = async () => (await small.add(organizationId)).get(organizationId);
    const truth = { ...countersSince(inTurn, organizationId, since), listFew };
    try {
      const suspicion = await suspect(redis, { organizationId, since, truth });
      if (suspicion.hashes.length > 0) suspicions.push(suspicion);
    } catch (error) {
      if (!(error instanceof StrangeKey)) throw error;
      reportStrange(log, organizationId, error);
      strange.push(organizationId);
    }
  };
  const mend = async () => {
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
    // of another Postgres: a fill would raise them, and lower none
    if (since === everything) strange.push(...ids.filter((id) => !ready.has(id)));
    next = nextAfter(ids);
    if (suspicions.length >= mostSuspicions) await mend();
  } while (next !== '' && !signal.aborted && performance.now() < end);
  if (signal.aborted) return { next: after, failed };
  await mend();
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

/** Also one that has a key of another type, which nothing can be added to. */
async function fillAnyway(parts: RepairParts, organizationId: string): Promise<void> {
  try {
    await fillOrganization(parts, organizationId);
  } catch (error) {
    if (!isStrange(error)) throw error;
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

/** Which Postgres the counters in Redis are a copy of: another one may have fewer, in every period. */
const serverKey = 'assent:counters:server';

/** Null where none was noted, or Redis was emptied. */
const notedServer = (client: RedisClient): Promise<string | null> => client.get(serverKey);

/** `server`: the one that all counters were compared with. */
export const noteServer = (client: RedisClient, server: string): Promise<unknown> => client.set(serverKey, server);
