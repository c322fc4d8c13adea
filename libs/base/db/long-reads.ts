/**
 * For responses made of many reads, which take as long as their client. Each read takes a slot of its own. If a busy store
 * does not respond in time, the read is retried, so that the response is not cut off.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Slots } from '../slots.ts';
import type { Reads } from './database.ts';
import { isUnavailable } from './errors.ts';

/** Each read waits for a slot of this organization. Once `signal` aborts, none waits any more. */
export const inSlots = (reads: Reads, slots: Slots, organizationId: string, signal?: AbortSignal): Reads => ({
  read: (work, how) => slots.run(organizationId, () => reads.read(work, how), signal),
});

/** Milliseconds before each retry. All tries together take less time than a client waits for the next byte. */
const pauses = [200, 500, 1_000];

export function retryingReads(reads: Reads): Reads {
  return {
    read: async (work, how) => {
      for (const milliseconds of pauses) {
        try {
          return await reads.read(work, how);
        } catch (error) {
          if (!isUnavailable(error)) throw error;
          await pause(milliseconds);
        }
      }
      return reads.read(work, how);
    },
  };
}
