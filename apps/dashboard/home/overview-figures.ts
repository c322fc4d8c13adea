/** The figures of all domains: for the last 30 days, which are polled with the latest records, or for another period. */
import { useMemo } from 'preact/hooks';
import type { OrgStats } from '#libs/log/contract';
import type { OrganizationStats } from '#libs/stats/contract';
import { includesToday, intervalIn, type Period } from '../data/periods.ts';
import { type Reading, useLive, useReading } from '../data/query.ts';
import { now } from '../data/service-clock.ts';
import { useSignedIn } from '../data/signed-in.ts';

/** milliseconds; rates change once an epoch, and the counts of the last 30 days come with the latest records */
const ratesEvery = 10_000;
const countsEvery = 1_000;

export type Figures = Omit<OrganizationStats, 'organizationId'>;

interface Read {
  /** Undefined at first. While another period loads, these are the figures of the period shown before. */
  figures: Figures | undefined;
  /** reads the figures of a chosen period; for the last 30 days, only their rates */
  reading: Reading<OrganizationStats>;
}

export function useFigures(chosen: Period | null, last: OrgStats): Read {
  const { api } = useSignedIn();
  const { from, to } = chosen ?? last.period;
  const interval = intervalIn(new URLSearchParams(), { from, to });
  const read = (signal: AbortSignal) => api.organizationStats({ from, to, interval }, signal);
  const key = `figures ${from} ${to}`;
  const reading = useReading(key, read);
  const { value, isLoading, put } = reading;
  const isComplete = chosen && !includesToday(chosen, now()) && value?.optInRate !== undefined;
  useLive(value && !isLoading && !isComplete ? key : null, {
    ask: read,
    // figures that the response lacks keep their last value
    onAnswer: (newest) => put({ ...value, pending: undefined, ...newest }),
    interval: chosen ? countsEvery : ratesEvery,
  });
  const figures = useMemo(() => {
    if (chosen) return value;
    const rates = value?.from === from && value.to === to ? value : undefined;
    const byDay = new Map(rates?.series?.map((each) => ['date' in each ? each.date : each.month, each]));
    const series = last.daily.map((each) => ({ ...byDay.get(each.date), ...each }));
    const pending = rates && (rates.pending ?? 0) + last.total - rates.total;
    return { ...rates, from, to, total: last.total, breakdown: last.breakdown, series, pending: pending || undefined };
  }, [chosen === null, last, value]);
  return { figures, reading };
}
