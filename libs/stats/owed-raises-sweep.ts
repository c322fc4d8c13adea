/** Owed raises: counters that were stored while Redis could not be raised. */

import { groupBy } from '#libs/base/group-by';
import { totalOf } from '#libs/base/terms/terms';
import type { HealingParts } from './each-organization.ts';
import { deleteOwedRaises, listOwedRaises, type OwedRaise } from './owed-raises.ts';
import { raise } from './raise.ts';

/** counters at once */
const chunk = 1_000;

/** Raises what is owed and forgets it. Returns how many counters that were; rejects where some could not be raised. */
export async function sweepOwedRaises({
  countersRedis,
  db,
}: Pick<HealingParts, 'countersRedis' | 'db'>): Promise<number> {
  let swept = 0;
  let failure: unknown;
  let last: OwedRaise | undefined;
  do {
    const owed = await db.run((sql) => listOwedRaises(sql, last, chunk));
    const byOrganization = [...groupBy(owed, (counter) => counter.organizationId).values()];
    const raises = await Promise.allSettled(
      byOrganization.map((group) =>
        raise(
          countersRedis.client,
          // an organization that was deleted has none left
          group.filter((counter) => totalOf(counter) > 0),
        ),
      ),
    );
    const raised = byOrganization.filter((_, at) => raises[at]?.status === 'fulfilled').flat();
    if (raised.length > 0) await db.run((sql) => deleteOwedRaises(sql, raised));
    failure ??= raises.find((result) => result.status === 'rejected')?.reason;
    // nothing could be raised: Redis has gone, and what is left waits until it is back
    if (owed.length > 0 && raised.length === 0) break;
    swept += raised.length;
    last = owed.length === chunk ? owed.at(-1) : undefined;
  } while (last);
  if (failure !== undefined) throw failure;
  return swept;
}
