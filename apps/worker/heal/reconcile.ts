/** Organizations without a mark are filled; counters that differ from Postgres are dropped and filled. */
import { addDays, dayOf } from '#libs/contract/calendar';
import { confirm, type Difference } from '#libs/counters/drift';
import { fill, readyAmong } from '#libs/counters/fill';
import { drop } from '#libs/counters/raise';
import { StrangeKey, type Suspicion, suspect } from '#libs/counters/suspect';
import { groupBy } from '#libs/runtime/group-by';
import { countersSince, listCounters, listOrganizationIds } from '#libs/store/counters';
import { eachOrganization, type HealingParts } from './organizations.ts';

/** Days that records may still arrive for, and a little more. */
const watchedDays = 32;
/** Milliseconds that a raise may be on its way. */
const raisePatience = 1_000;

/** Fills every organization that lacks its mark, so that its statistics come from Redis before anybody asks. */
export async function fillMissing(parts: HealingParts, signal: AbortSignal): Promise<void> {
  const organizationIds = await parts.db.run(listOrganizationIds);
  const ready = await readyAmong(parts.countersRedis, organizationIds);
  const missing = organizationIds.filter((id) => !ready.has(id));
  await eachOrganization(parts, missing, signal, (id) => fillOrganization(parts, id));
}

/** Compares every organization that has its mark with Postgres, and repairs what drifted. */
export async function reconcile(parts: HealingParts, signal: AbortSignal, patience = raisePatience): Promise<void> {
  const { countersRedis, db, log } = parts;
  const since = addDays(dayOf(Date.now()), -watchedDays);
  const ready = await readyAmong(countersRedis, await db.run(listOrganizationIds));
  const suspicions: Suspicion[] = [];
  const strange: string[] = [];
  await eachOrganization(parts, [...ready], signal, async (organizationId) => {
    const truth = countersSince(db, organizationId, since);
    try {
      const suspicion = await suspect(countersRedis, { organizationId, since, truth });
      if (suspicion.hashes.length > 0) suspicions.push(suspicion);
    } catch (error) {
      if (!(error instanceof StrangeKey)) throw error;
      log.error({ organizationId, err: error }, 'a key in Redis is no counter; rebuilding them');
      strange.push(organizationId);
    }
  });
  if (signal.aborted) return;
  const drifted = groupBy(await confirm(countersRedis, suspicions, patience), (each) => each.organizationId);
  for (const [organizationId, differences] of drifted) report(parts, organizationId, differences);
  await eachOrganization(parts, [...strange, ...drifted.keys()], signal, async (organizationId) => {
    await drop(countersRedis.client, organizationId);
    await fillOrganization(parts, organizationId);
  });
}

function report({ log, metrics }: HealingParts, organizationId: string, differences: Difference[]): void {
  metrics.drift.inc(differences.length);
  log.error(
    { organizationId, differences: differences.slice(0, 5), count: differences.length },
    'counters differ from Postgres; rebuilding them',
  );
}

async function fillOrganization({ countersRedis, db, metrics }: HealingParts, organizationId: string): Promise<void> {
  const list: Parameters<typeof fill>[2] = (after, limit) =>
    db.run((sql) => listCounters(sql, organizationId, after, limit));
  if (await fill(countersRedis, organizationId, list)) metrics.fills.inc();
}
