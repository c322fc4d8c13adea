import type { Database } from './database.ts';

/**
 * What a process has learned from a server of Postgres, made anew once its connections may lead to another one, restored or
 * promoted, which may lack some of it. Take it before the first statement that it is compared with.
 */
export function cachePerServer<T>(generation: Database['generation'], make: () => T): () => T {
  let learnedIn: number | undefined;
  let learned: T;
  return () => {
    const current = generation();
    if (learnedIn !== current) learned = make();
    learnedIn = current;
    return learned;
  };
}
