/** Organizations without a mark are filled; counters that differ from Postgres are dropped and filled. */
import { addDays, dayOf } from '#libs/contract/calendar';
import { findDrift } from '#libs/counters/drift';
import { fill, isReady } from '#libs/counters/fill';
import { drop } from '#libs/counters/raise';
import { listCounters, listCountersSince } from '#libs/store/counters';
import { eachOrganization, type HealingParts, takeTurn } from './organizations.ts';

/** Days that records may still arrive for, and a little more. */
const watchedDays = 32;
/** Milliseconds that a raise may be on its way. */
const raisePatience = 1_000;

/** Fills every organization that lacks its mark, so that its statistics come from Redis before anybody asks. */
export async function fillMissing(parts: HealingParts, turn: number): Promise<void> {
  if (!(await takeTurn(parts, 'fill', turn))) return;
  await eachOrganization(parts, async (organizationId) => {
    if (!(await isReady(parts.countersRedis, organizationId))) await fillOrganization(parts, organizationId);
  });
}

/** Compares every organization with Postgres and repairs what drifted. */
export async function reconcile(parts: HealingParts, turn: number): Promise<void> {
  if (!(await takeTurn(parts, 'reconcile', turn))) return;
  await eachOrganization(parts, (organizationId) => reconcileOrganization(parts, organizationId));
}

async function fillOrganization({ countersRedis, db, metrics }: HealingParts, organizationId: string): Promise<void> {
  const list: Parameters<typeof fill>[2] = (after, limit) =>
    db.run((sql) => listCounters(sql, organizationId, after, limit));
  if (await fill(countersRedis, organizationId, list)) metrics.fills.inc();
}

/** Fills an organization that lacks its mark; else compares and repairs it. `patience`: how long a raise may be on its way. */
export async function reconcileOrganization(
  parts: HealingParts,
  organizationId: string,
  patience = raisePatience,
): Promise<void> {
  const { countersRedis, db, log, metrics } = parts;
  if (!(await isReady(countersRedis, organizationId))) return fillOrganization(parts, organizationId);
  const since = addDays(dayOf(Date.now()), -watchedDays);
  const { differences } = await findDrift(countersRedis, organizationId, {
    since,
    patience,
    listCounters: () => db.run((sql) => listCountersSince(sql, organizationId, since)),
  });
  if (differences.length === 0) return;
  metrics.drift.inc(differences.length);
  log.error(
    { organizationId, differences: differences.slice(0, 5), count: differences.length },
    'counters differ from Postgres; rebuilding them',
  );
  await drop(countersRedis.client, organizationId);
  await fillOrganization(parts, organizationId);
}
