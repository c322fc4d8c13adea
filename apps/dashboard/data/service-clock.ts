/** The service's time: which day is today must not hang on a visitor's wrong clock. */
let ahead = 0;

/** Differences below this many milliseconds are the way of the answer, not the clock. */
const tolerated = 60_000;

/** Each answer tells the server's time, to the second. */
export function hearTime(date: string | null): void {
  const difference = Date.parse(date ?? '') - Date.now();
  if (!Number.isNaN(difference)) ahead = Math.abs(difference) > tolerated ? difference : 0;
}

/** Unix milliseconds. */
export const now = (): number => Date.now() + ahead;
