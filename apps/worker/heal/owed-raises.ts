/** Owed raises: counters that were stored while Redis could not be raised. */
import { raise } from '#libs/counters/raise';
import { groupBy } from '#libs/runtime/group-by';
import { deleteOwedRaises, listOwedRaises } from '#libs/store/counters';
import type { HealingParts } from './organizations.ts';

/** owed raises at once */
const sweepSize = 20_000;

/** Raises what is owed and forgets it. Returns how many raises were owed; rejects where some still are. */
export async function sweepOwedRaises({
  countersRedis,
  db,
}: Pick<HealingParts, 'countersRedis' | 'db'>): Promise<number> {
  const owed = await db.run((sql) => listOwedRaises(sql, sweepSize));
  const byOrganization = [...groupBy(owed, (counter) => counter.organizationId).values()];
  const raises = await Promise.allSettled(byOrganization.map((group) => raise(countersRedis.client, group)));
  const raised = byOrganization.filter((_, at) => raises[at]?.status === 'fulfilled');
  const ids = raised.flat().flatMap((counter) => counter.ids);
  if (ids.length > 0) await db.run((sql) => deleteOwedRaises(sql, ids));
  for (const result of raises) if (result.status === 'rejected') throw result.reason;
  return ids.length;
}
