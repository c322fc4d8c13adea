/** The retention of records, in whole months. */
import { addMonths, dayOf, firstDay, monthOf } from './calendar.ts';
import { acceptedPast } from './terms.ts';

/** milliseconds */
const day = 24 * 60 * 60 * 1_000;

/**
 * A month is deleted only when its last day is past both the retention and the time in which records may still arrive.
 * `retentionMonths`: 0 means unlimited.
 */
export function isPastRetention(month: string, retentionMonths: number, now: number): boolean {
  if (retentionMonths === 0) return false;
  const end = firstDay(addMonths(month, 1));
  return end <= firstDay(addMonths(monthOf(now), -retentionMonths)) && end <= dayOf(now - acceptedPast - 2 * day);
}
