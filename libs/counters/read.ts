/** Reading counters: the mark and the counts in one step, so that counts of a half-filled Redis are never shown. */
import type { Breakdown } from '#libs/contract/terms';
import { groupBy } from '#libs/group-by';
import type { RedisConnection } from '#libs/redis';
import { counterField, counterKey, readyKey, unpack } from './keys.ts';
import { scripted } from './scripts.ts';

/**
 * The counts of `periods`; a period without decisions is absent.
 * Null when this Redis does not hold all counters of the organization, or is not connected. Rejects when it does not
 * answer.
 */
export async function readCounters(
  connection: RedisConnection,
  { organizationId, domainId, periods }: { organizationId: string; domainId: string; periods: string[] },
): Promise<Map<string, Breakdown> | null> {
  const mark = readyKey(organizationId);
  const runId = connection.runIdOf(mark);
  if (runId === undefined) return null;
  const byKey = groupBy(periods, (period) => counterKey(organizationId, domainId, period));
  const groups = [...byKey.values()];
  const fields = groups.flatMap((group) => [group.length, ...group.map(counterField)]);
  const keys = [mark, ...byKey.keys()];
  const found = await scripted(connection.client).assentRead(keys.length, ...keys, runId, ...fields);
  if (!Array.isArray(found)) return null;

  const counts = new Map<string, Breakdown>();
  for (const [at, period] of groups.flat().entries()) {
    const packed: unknown = found[at];
    if (typeof packed === 'string') counts.set(period, unpack(packed));
  }
  return counts;
}
