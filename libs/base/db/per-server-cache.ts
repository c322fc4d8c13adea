import type { Database } from './database.ts';

/**
 * A cache of what one Postgres server stores. It is made again once connections may lead to another server, restored or
 * promoted, which may lack some of it. Call the returned function before the query that the value goes with: the server may
 * change during the query.
 */
export function cachePerServer<T>(generation: Database['generation'], make: () => T): () => T {
  let cachedIn: number | undefined;
  let cached: T;
  return () => {
    const current = generation();
    if (cachedIn !== current) cached = make();
    cachedIn = current;
    return cached;
  };
}
