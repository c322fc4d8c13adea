/** Reading counters: the mark and the counts in one transaction, so that counts of a half-filled Redis are never shown. */
import type { Breakdown } from '#libs/contract/terms';
import { groupBy } from '#libs/group-by';
import type { RedisConnection } from '#libs/redis';
import { counterField, counterKey, readyKey, unpack } from './keys.ts';

/**
 * The counts of `periods`; a period without decisions is absent.
 * Null when this Redis does not hold all counters of the organization. Rejects when Redis does not answer.
 */
export async function readCounters(
  connection: RedisConnection,
  { organizationId, domainId, periods }: { organizationId: string; domainId: string; periods: string[] },
): Promise<Map<string, Breakdown> | null> {
  const mark = readyKey(organizationId);
  const byKey = groupBy(periods, (period) => counterKey(organizationId, domainId, period));
  const transaction = connection.client.multi().get(mark);
  for (const [key, group] of byKey) transaction.hmget(key, ...group.map(counterField));
  const replies = await transaction.exec();
  const runId = connection.runIdOf(mark);
  if (!replies || runId === undefined) return null;
  const failure = replies.find(([error]) => error)?.[0];
  if (failure) throw failure;
  if (replies[0]?.[1] !== runId) return null;

  const counts = new Map<string, Breakdown>();
  let index = 1;
  for (const group of byKey.values()) {
    const values = replies[index++]?.[1];
    if (!Array.isArray(values)) return null;
    group.forEach((period, at) => {
      const packed: unknown = values[at];
      if (typeof packed === 'string') counts.set(period, unpack(packed));
    });
  }
  return counts;
}
