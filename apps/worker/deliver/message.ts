/** What a lane's next message says. */
import type { FeedEntry } from '#libs/contract/responses';
import { readErasedPositions, readFeed } from '#libs/store/logs/feed';
import type { Sql } from '#libs/store/sql';
import type { Lane } from '#libs/store/webhooks/lanes';

/** Undefined where nothing is left of what the lane has next, by its filter or by its type. */
export async function readMessage(sql: Sql, lane: Lane): Promise<object | undefined> {
  const { type, domainId, domainNumber, log, position, through, data } = lane;
  if (domainNumber === null) return data ?? {};
  if (log === null || position === null || through === null) throw new Error(`lane ${lane.number} has no place`);
  const range = { from: position, below: through };
  if (type === 'visitor.erased') {
    const positions = await readErasedPositions(sql, { domainNumber, log }, range);
    return positions.length > 0 ? { domainId, log, positions } : undefined;
  }
  const entries = (await readFeed(sql, { domainNumber, log }, range)).filter(isWanted(lane)).map(withoutDevice);
  return entries.length > 0 ? { domainId, log, first: position, size: through, entries } : undefined;
}

/** The filter is about records; whoever keeps them has to hear of erasures in any case. */
const isWanted =
  ({ decisions }: Lane) =>
  (entry: FeedEntry): boolean =>
    decisions === null ||
    (entry.type === 'record' ? decisions.includes(entry.record.decision) : entry.type === 'erasure');

function withoutDevice(entry: FeedEntry): object {
  if (entry.type !== 'record') return entry;
  const { ip, userAgent, ...record } = entry.record;
  return { ...entry, record };
}
