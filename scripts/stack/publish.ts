import { existsSync, renameSync, rmSync } from 'node:fs';

/** Puts a finished folder in its place. When two processes made it at once, the first one's stays: it may be in use. */
export function publish(finished: string, place: string): void {
  try {
    renameSync(finished, place);
  } catch (error) {
    if (!existsSync(place)) throw error;
    rmSync(finished, { recursive: true });
  }
}
