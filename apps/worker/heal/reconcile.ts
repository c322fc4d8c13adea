/**
 * What keeps counters right without anybody asking: owed raises are swept, organizations without a mark are filled, and
 * what drifted is dropped and filled. On plain timers: a lost scheduler must not take the healer with it.
 */
import { addDays, dayOf } from '#libs/contract/calendar';
import { findDrift } from '#libs/counters/drift';
import { fill, isReady } from '#libs/counters/fill';
import { drop, raise } from '#libs/counters/raise';
import { groupBy } from '#libs/runtime/group-by';
import {
  deleteOwedRaises,
  listCounters,
  listCountersSince,
  listOrganizationIds,
  listOwedRaises,
} from '#libs/store/counters';
import type { WorkerDeps } from '../consume.ts';

/** Days that records may still arrive for, and a little more. */
const watchedDays = 32;
/** owed raises at once */
const sweepSize = 20_000;
/** Milliseconds that a raise may be on its way. */
const raisePatience = 1_000;

type Deps = Pick<WorkerDeps, 'counters' | 'db' | 'log' | 'metrics'>;

/** Raises what others could not raise, and forgets it. Returns how many raises were owed; rejects where some still are. */
export async function sweepOwedRaises({ counters, db }: Deps): Promise<number> {
  const owed = await db.run((sql) => listOwedRaises(sql, sweepSize));
  const byOrganization = [...groupBy(owed, (counter) => counter.organizationId).values()];
  const raises = await Promise.allSettled(byOrganization.map((group) => raise(counters.client, group)));
  const raised = byOrganization.filter((_, at) => raises[at]?.status === 'fulfilled');
  const ids = raised.flat().flatMap((counter) => counter.ids);
  if (ids.length > 0) await db.run((sql) => deleteOwedRaises(sql, ids));
  for (const result of raises) if (result.status === 'rejected') throw result.reason;
  return ids.length;
}

/** True for one worker of all, and then for `turn` milliseconds for no other. */
const takeTurn = async ({ counters }: Deps, task: string, turn: number): Promise<boolean> =>
  (await counters.client.set(`assent:${task}`, process.pid, 'PX', turn, 'NX')) !== null;

/** Fills every organization that lacks its mark, so that its statistics come from Redis before anybody asks. */
export async function fillMissing(deps: Deps, turn: number): Promise<void> {
  if (!(await takeTurn(deps, 'fill', turn))) return;
  await eachOrganization(deps, async (organizationId) => {
    if (!(await isReady(deps.counters, organizationId))) await fillOrganization(deps, organizationId);
  });
}

/** Compares every organization with Postgres and mends what drifted. */
export async function reconcile(deps: Deps, turn: number): Promise<void> {
  if (!(await takeTurn(deps, 'reconcile', turn))) return;
  await eachOrganization(deps, (organizationId) => reconcileOrganization(deps, organizationId));
}

/** One organization that fails must not keep the others from being healed. */
async function eachOrganization(deps: Deps, heal: (organizationId: string) => Promise<void>): Promise<void> {
  for (const organizationId of await deps.db.run(listOrganizationIds)) {
    try {
      await heal(organizationId);
    } catch (error) {
      deps.log.warn({ err: error, organizationId }, 'counters could not be healed');
    }
  }
}

async function fillOrganization({ counters, db, metrics }: Deps, organizationId: string): Promise<void> {
  const list: Parameters<typeof fill>[2] = (after, limit) =>
    db.run((sql) => listCounters(sql, organizationId, after, limit));
  if (await fill(counters, organizationId, list)) metrics.fills.inc();
}

/** Fills an organization that lacks its mark, else compares and mends it. `patience`: how long a raise may be on its way. */
export async function reconcileOrganization(
  deps: Deps,
  organizationId: string,
  patience = raisePatience,
): Promise<void> {
  const { counters, db, log, metrics } = deps;
  if (!(await isReady(counters, organizationId))) return fillOrganization(deps, organizationId);
  const since = addDays(dayOf(Date.now()), -watchedDays);
  const { differences } = await findDrift(counters, organizationId, {
    since,
    patience,
    listCounters: () => db.run((sql) => listCountersSince(sql, organizationId, since)),
  });
  if (differences.length === 0) return;
  metrics.drift.inc(differences.length);
  log.error({ organizationId, differences: differences.slice(0, 5), count: differences.length }, 'counters drifted');
  await drop(counters.client, organizationId);
  await fillOrganization(deps, organizationId);
}
