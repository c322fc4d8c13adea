/**
 * For an answer that is made of many reads and takes as long as its client: each read has a place of its own, and one that a
 * busy store does not answer in time is asked again, so that it does not cut off all the rest.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Places } from '../places.ts';
import type { Reads } from './database.ts';
import { isUnavailable } from './errors.ts';

/** Each of these reads waits for a place of this organization; once `signal` aborts, none waits any more. */
export const inPlaces = (reads: Reads, places: Places, organizationId: string, signal?: AbortSignal): Reads => ({
  read: (work, how) => places.run(organizationId, () => reads.read(work, how), signal),
});

/** Milliseconds before each further try. Together with the tries shorter than a client waits for the next byte. */
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
