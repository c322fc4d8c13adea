/** For an answer that is made of many reads and takes as long as its client: each read has a place of its own. */
import type { Places } from '../places.ts';
import type { Database } from './database.ts';

/** `db`, whose reads wait for a place of this organization; once `signal` aborts, none waits any more. */
export const inPlaces = (db: Database, places: Places, organizationId: string, signal?: AbortSignal): Database => ({
  ...db,
  run: (work, deadline) => places.run(organizationId, () => db.run(work, deadline), signal),
});
