/** The slots of an API process that organizations share. `docs/security.md` lists everything that they share. */

import type { Context } from '#libs/base/http/context';
import { Crowded, createSlots, type Slots } from '#libs/base/slots';
import { Problem } from '#libs/base/terms/problem';

/** reads in progress: fewer than there are connections to Postgres */
const reads = 8;
/** Statistics from Redis are cheap: concurrent requests share a write and a read on its connection. */
const statistics = 64;
/** lookups of what visitors allow now: concurrent ones share a statement */
const current = 64;
/** of one organization that wait for a slot; beyond that they are refused */
const waitingReads = 1_000;
/** erasures, notices put with a token, and management changes; one organization may take all but one */
const changes = 4;
/** pages of exports, and batches of imports, that are read and checked at once */
const pages = 4;
const batches = 4;
/** batches of imports in the queue that are not known to be stored; each has some hundred records */
const ahead = 4;
/** how many one organization may hold open; these take nothing away from other organizations */
export const openAtMost = { exports: 1, imports: 4, visitors: 4 };
/** seconds */
const retryAfter = 10;

const each = (share: number, waiting?: number) =>
  createSlots({ slots: Number.POSITIVE_INFINITY, share, ...(waiting !== undefined && { waiting }) });

export interface SharedSlots {
  /** one organization alone may have all but one */
  reads: Slots;
  /** likewise, for statistics from Redis, which still work while reads wait for an unresponsive Postgres */
  statistics: Slots;
  /** likewise, for what visitors allow now, also while reads of the log wait */
  current: Slots;
  /** for an erasure, a notice that is put with a token, or a change of what is managed */
  changes: Slots;
  /** for a page that is read */
  exports: Slots;
  /** for a batch that is checked */
  imports: Slots;
  /** for a batch in the queue, until it is stored, even if its client has left */
  queued: Slots;
  /** what an organization has open; `imports` and `exports` refuse more at once */
  open: { exports: Slots; imports: Slots; visitors: Slots };
}

export const createSharedSlots = (): SharedSlots => ({
  reads: createSlots({ slots: reads, share: reads - 1, waiting: waitingReads }),
  statistics: createSlots({ slots: statistics, share: statistics - 1, waiting: waitingReads }),
  current: createSlots({ slots: current, share: current - 1, waiting: waitingReads }),
  changes: createSlots({ slots: changes, share: changes - 1, waiting: waitingReads }),
  exports: createSlots({ slots: pages }),
  imports: createSlots({ slots: batches }),
  queued: createSlots({ slots: ahead }),
  open: {
    exports: each(openAtMost.exports, 0),
    imports: each(openAtMost.imports, 0),
    visitors: each(openAtMost.visitors),
  },
});

/** Returns what releases the slot; throws a 429 if the organization has as many open as it may. */
export async function takeOrRefuse(slots: Slots, organizationId: string, detail: string): Promise<() => void> {
  try {
    return await slots.take(organizationId);
  } catch (error) {
    if (!(error instanceof Crowded)) throw error;
    throw new Problem('rate_limited', detail, { cause: error, headers: { 'Retry-After': String(retryAfter) } });
  }
}

/** Aborts once the response is sent or the client has left. */
export function endOf({ res }: Context): AbortSignal {
  const end = new AbortController();
  if (res.writableEnded || res.destroyed) end.abort();
  else res.once('close', () => end.abort());
  return end.signal;
}
