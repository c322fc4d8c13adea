/**
 * For an answer that is made of many reads and takes as long as its client: each read has a place of its own, and one that a
 * busy store does not answer in time is asked again, so that it does not cut off all the rest.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Places } from '../places.ts';
import type { Database } from './database.ts';
import { isUnavailable } from './errors.ts';

/** `db`, whose reads wait for a place of this organization; once `signal` aborts, none waits any more. */
export const inPlaces = (db: Database, places: Places, organizationId: string, signal?: AbortSignal): Database => ({
  ...db,
  run: (work, deadline) => places.run(organizationId, () => db.run(work, deadline), signal),
});

/** Milliseconds before each further try. Together with the tries shorter than a client waits for the next byte. */
const pauses = [200, 500, 1_000];

/** Only for reads: what is asked again may have happened. */
export function retryingReads(db: Database): Database {
  return {
    ...db,
    run: async (work, deadline) => {
      for (const milliseconds of pauses) {
        try {
          return await db.run(work, deadline);
        } catch (error) {
          if (!isUnavailable(error)) throw error;
          await pause(milliseconds);
        }
      }
      return db.run(work, deadline);
    },
  };
}
