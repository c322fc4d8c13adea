/** Groups the days or months of a response into the chart's days, weeks or months. */
import { addDays, firstDay, lastDay, monthOfDay, startOf } from '#libs/base/terms/calendar';
import type { Breakdown } from '#libs/base/terms/terms';
import type { DomainStats } from '#libs/stats/contract';
import type { Bucket } from '../../charts/scale.ts';
import { decisions } from '../../data/decisions.ts';
import { proportionOf, rateIn } from '../../data/group-rows.ts';
import type { Interval, Period } from '../../data/periods.ts';
import type { Proportion } from '../../data/proportions.ts';
import { dayRange, dayTick, dayWithWeekday, monthName, monthTick } from '../../format.ts';

export type Counted = NonNullable<DomainStats['series']>[number];

/** A bucket's first and last day, and the number of days (or months) of the response in it. */
export interface DatedBucket extends Bucket, Period {
  size: number;
}

/** Weeks start on Monday. The first and last week only contain days of the period. */
export function bucketsOf({ from, to, series = [] }: DomainStats, interval: Interval | undefined): DatedBucket[] {
  const parts = new Map<string, Counted[]>();
  for (const each of series) {
    const day = 'month' in each ? firstDay(each.month) : each.date;
    const first = interval === 'week' ? mondayOf(day) : interval === 'month' ? firstDay(monthOfDay(day)) : day;
    parts.set(first, [...(parts.get(first) ?? []), each]);
  }
  return Array.from(parts, ([first, days]) => {
    const last = { day: first, week: addDays(first, 6), month: lastDay(monthOfDay(first)) }[interval ?? 'day'];
    const edges = { from: first < from ? from : first, to: last > to ? to : last };
    return { ...edges, ...namesOf(edges, interval), size: days.length, ...sumOf(days) };
  });
}

const mondayOf = (day: string): string => addDays(day, -((new Date(startOf(day)).getUTCDay() + 6) % 7));

function namesOf({ from, to }: Period, interval: Interval | undefined) {
  if (interval === 'week') return { name: dayRange(from, to), tick: dayTick(from) };
  if (interval === 'month') return { name: monthName(monthOfDay(from)), tick: monthTick(monthOfDay(from)) };
  return { name: dayWithWeekday(from), tick: dayTick(from) };
}

function sumOf(days: readonly Counted[]) {
  const sum: Breakdown & { total: number } = { total: 0, accept_all: 0, custom: 0, reject_all: 0, withdraw: 0 };
  for (const day of days) for (const name of [...decisions, 'total'] as const) sum[name] += day[name];
  const choices = proportionOf(days);
  const isKnown = days.every(({ optInRate }) => optInRate !== undefined);
  return { ...sum, choices: choices.all, optInRate: isKnown ? rateIn(choices) : undefined };
}

/** The previous period's rate at the same offset as each bucket; null after its end. */
export function ratesBefore(buckets: readonly DatedBucket[], { series = [] }: DomainStats): (Proportion | null)[] {
  let at = 0;
  return buckets.map(({ size }) => {
    const days = series.slice(at, at + size);
    at += size;
    return days.length > 0 ? proportionOf(days) : null;
  });
}
