/** The service's time, so that a wrong clock in the browser does not decide which day is today. */

/** Milliseconds by which the service's clock is ahead of the browser's. */
let offset = 0;

/** Milliseconds. A smaller difference is network delay, not a wrong clock. */
const tolerance = 60_000;

/** Takes the `Date` header of a response, which is exact to the second. */
export function learnServiceTime(date: string | null): void {
  const difference = Date.parse(date ?? '') - Date.now();
  if (!Number.isNaN(difference)) offset = Math.abs(difference) > tolerance ? difference : 0;
}

/** Unix milliseconds. */
export const now = (): number => Date.now() + offset;
