/** The header `Retry-After`, in seconds or as a date, since a proxy may send either (RFC 9110, 10.2.3). */

/** Milliseconds: the longest wait. A timer of more than 24 days would fire at once. */
const longest = 24 * 60 * 60 * 1_000;

/**
 * Milliseconds; 0 if the header is absent or invalid. `date`: the Date header of the same response, since clocks differ.
 */
export function readRetryAfter(header: string | null | undefined, date: string | null | undefined): number {
  if (!header) return 0;
  const [until, theirs] = [Date.parse(header), Date.parse(date ?? '')];
  const wait = /^\d+$/.test(header) ? Number(header) * 1_000 : until - (Number.isNaN(theirs) ? Date.now() : theirs);
  return Math.min(Math.max(wait || 0, 0), longest);
}
