/** Periods of UTC days: the presets, the period of an address, and the period to compare with. */
import {
  addDays,
  addMonths,
  countDays,
  dayOf,
  firstDay,
  isDate,
  lastDay,
  monthOfDay,
  monthsBetween,
} from '#libs/base/terms/calendar';

export interface Period {
  /** first and last day, inclusive */
  from: string;
  to: string;
}
/** Steps of charts. The service has days and months; weeks, from Monday to Sunday, are summed here. */
export type Interval = 'day' | 'week' | 'month';

/** longest period, in days, that the service groups and returns by day */
const longestByDay = 366;
const longestByMonth = 120;
/** Longer periods are charted by month by default. */
const dailyUpTo = 92;

const lastDays = (today: string, days: number): Period => ({ from: addDays(today, 1 - days), to: today });

export function presets(time: number): { name: string; period: Period }[] {
  const today = dayOf(time);
  const thisMonth = monthOfDay(today);
  const lastMonth = addMonths(thisMonth, -1);
  const quarter = addMonths(thisMonth, -((Number(thisMonth.slice(5)) - 1) % 3));
  const yesterday = addDays(today, -1);
  return [
    { name: 'Today', period: lastDays(today, 1) },
    { name: 'Yesterday', period: { from: yesterday, to: yesterday } },
    { name: '7 days', period: lastDays(today, 7) },
    { name: '30 days', period: lastDays(today, 30) },
    { name: 'This month', period: { from: firstDay(thisMonth), to: today } },
    { name: 'Last month', period: { from: firstDay(lastMonth), to: lastDay(lastMonth) } },
    { name: 'Last quarter', period: { from: firstDay(addMonths(quarter, -3)), to: lastDay(addMonths(quarter, -1)) } },
    { name: '12 months', period: { from: firstDay(addMonths(thisMonth, -11)), to: today } },
  ];
}

export const defaultPeriod = (time: number): Period => lastDays(dayOf(time), 30);

/** The first day that a decision can have. */
export const firstCounted = '2000-01-01';
const isCounted = (text: string): boolean => isDate(text) && text >= firstCounted && text <= '2100-12-31';
export const isPeriod = ({ from, to }: Period): boolean => isCounted(from) && isCounted(to) && from <= to;

/** Null if the address has no valid period. */
export function periodIn(query: URLSearchParams): Period | null {
  const period = { from: query.get('from') ?? '', to: query.get('to') ?? '' };
  return isPeriod(period) ? period : null;
}

/** The steps that a chart offers: day, week and month, month alone, or none if the period is too long. */
export function intervalsOf({ from, to }: Period): Interval[] {
  const intervals: Interval[] = [];
  if (canBeGrouped({ from, to })) intervals.push('day', 'week');
  if (monthsBetween(from, to).length <= longestByMonth) intervals.push('month');
  return intervals;
}

export function intervalIn(query: URLSearchParams, period: Period): Interval | undefined {
  const possible = intervalsOf(period);
  const preferred = countDays(period.from, period.to) <= dailyUpTo ? 'day' : 'month';
  const wanted = query.get('interval');
  return possible.find((each) => each === wanted) ?? possible.find((each) => each === preferred) ?? possible[0];
}

/** Whether the period is short enough for groups. */
export const canBeGrouped = ({ from, to }: Period): boolean => countDays(from, to) <= longestByDay;

/** Null if the period would start before the first day that a decision can have. */
export function periodBefore(period: Period, time: number): Period | null {
  const before = comparedPeriod(period, time);
  return isPeriod(before) ? before : null;
}

/**
 * Whole months are compared with the same number of previous months, a month to date with the same days of the previous
 * month, and any other period with the same number of previous days.
 */
function comparedPeriod({ from, to }: Period, time: number): Period {
  const isFromFirst = from === firstDay(monthOfDay(from));
  const months = monthsBetween(from, to).length;
  const earlier = (month: string) => addMonths(month, -months);
  if (isFromFirst && to === lastDay(monthOfDay(to)))
    return { from: firstDay(earlier(monthOfDay(from))), to: lastDay(earlier(monthOfDay(to))) };
  if (isFromFirst && months === 1 && to === dayOf(time)) {
    const last = earlier(monthOfDay(to));
    const sameDay = `${last}${to.slice(7)}`;
    return { from: firstDay(earlier(monthOfDay(from))), to: isDate(sameDay) ? sameDay : lastDay(last) };
  }
  const days = countDays(from, to);
  return { from: addDays(from, -days), to: addDays(from, -1) };
}

/** The name of the period to compare with: `the previous 30 days`, `the previous month`. */
export function nameOfPrevious(before: Period, { from }: Period): string {
  if (addDays(before.to, 1) !== from) return 'the same days of the previous month';
  const isWholeMonths =
    before.from === firstDay(monthOfDay(before.from)) && before.to === lastDay(monthOfDay(before.to));
  const length = isWholeMonths ? monthsBetween(before.from, before.to).length : countDays(before.from, before.to);
  const unit = isWholeMonths ? 'month' : 'day';
  return length === 1 ? `the previous ${unit}` : `the previous ${length} ${unit}s`;
}

export const includesToday = ({ from, to }: Period, time: number): boolean => from <= dayOf(time) && dayOf(time) <= to;
