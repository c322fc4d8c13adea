/** The statistics of one domain for the period in the address, compared with the previous period. */
import { useEffect, useRef } from 'preact/hooks';
import type { DomainStats } from '#libs/stats/contract';
import { silentDays } from '../data/domain-figures.ts';
import { domainIn } from '../data/domains.ts';
import {
  defaultPeriod,
  firstCounted,
  includesToday,
  intervalIn,
  type Period,
  periodBefore,
  periodIn,
} from '../data/periods.ts';
import { useLive, useReading } from '../data/query.ts';
import { domainAddress, navigate } from '../data/router.ts';
import { now } from '../data/service-clock.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { dayRange } from '../format.ts';
import { FirstRecord } from '../parts/first-record.tsx';
import { lazy } from '../parts/lazy.tsx';
import { LoadingOrError } from '../parts/loading-or-error.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { PaperTitle } from '../parts/paper-title.tsx';
import { PeriodPicker } from '../parts/period-picker.tsx';
import { SilentTag } from '../parts/silent-tag.tsx';
import { type ComparedStats, Statistics } from './statistics.tsx';

const Cards = lazy(() => import('./cards/cards.tsx'))((page) => page.Cards, 'table');

export function Domain({ domainId, query }: { domainId: string; query: URLSearchParams }) {
  const { api, organization } = useSignedIn();
  const period = periodIn(query) ?? defaultPeriod(now());
  const interval = intervalIn(query, period);
  // the service has no weeks: they are summed from days
  const asked = { ...period, interval: interval === 'week' ? 'day' : interval };
  const key = domainAddress(domainId, asked);
  const chart = query.get('chart') === 'counts' ? 'counts' : undefined;
  const address = domainAddress(domainId, { ...period, interval, chart });
  // the notice stays after the effect below has corrected an invalid address
  const correctedTo = useRef<string | null>(null);
  if (periodIn(query) === null && (query.has('from') || query.has('to'))) correctedTo.current = address;
  // the days go into the address, so that a link shows the same period tomorrow
  useEffect(() => {
    if (location.pathname + location.search !== address) navigate(address, { replace: true });
  }, [address]);

  const earlier = periodBefore(period, now());
  const read = async (signal: AbortSignal): Promise<ComparedStats> => {
    const [stats, before, until] = await Promise.all([
      api.stats(domainId, asked, signal),
      earlier && api.stats(domainId, earlier, signal),
      earlier && api.stats(domainId, { from: firstCounted, to: earlier.from }, signal),
    ]);
    return { stats, before, isCovered: until !== null && until.total > 0 };
  };
  const reading = useReading<ComparedStats>(key, read);
  const view = reading.value;
  const isOpen = includesToday(period, now());
  // if Postgres is slow, the response lacks rates: then even a past period is polled
  const lacksRates = view && [view.stats, view.before].some((each) => each && each.optInRate === undefined);
  const live = useLive<ComparedStats>(view && !reading.isLoading && (isOpen || lacksRates) ? key : null, {
    ask: async (signal) =>
      lacksRates || !view ? read(signal) : { ...view, stats: await api.stats(domainId, asked, signal) },
    // figures that the response lacks keep their last value
    onAnswer: ({ stats, before, isCovered }) => {
      if (!view) return;
      const merged = { ...view.stats, pending: undefined, ...stats };
      reading.put({ stats: merged, before: before && { ...view.before, ...before }, isCovered });
    },
  });
  const domain = domainIn(organization, domainId);
  const addressOf = (chosen: Period) => domainAddress(domainId, { ...chosen, chart });
  return (
    <>
      <PageHead
        note={`${dayRange(period.from, period.to)} (UTC)${isOpen ? ', including today' : ''}`}
        domain={{ domainId, page: 'domain' }}
        live={view && live}
      >
        {isOpen && !domain.archivedAt && <SilentTag days={silentDays(lastDayIn(view?.stats.series))} />}
      </PageHead>
      <PaperTitle what="Consent statistics" domainId={domainId} {...period} />
      <PeriodPicker period={period} addressOf={addressOf} />
      {correctedTo.current === address && (
        <p class="notice" role="status">
          The address has no valid period, so these are the last 30 days.
        </p>
      )}
      <LoadingOrError reading={reading} kind="page" />
      {view && (
        <div class={reading.isLate ? 'stack fading' : 'stack'} aria-busy={reading.isLoading}>
          {reading.isSlow && (
            <p class="notice" role="status">
              Still loading. These are the figures for {dayRange(view.stats.from, view.stats.to)}.
            </p>
          )}
          {view.stats.total === 0 && !view.before?.total && isOpen && !domain.archivedAt ? (
            <FirstRecord domain={domain} period={`from ${dayRange(view.stats.from, view.stats.to)}`} />
          ) : (
            <Statistics
              view={view}
              period={period}
              interval={interval}
              hasCounts={chart !== undefined}
              domainId={domainId}
            />
          )}
        </div>
      )}
      {view && (view.stats.total > 0 || (view.before?.total ?? 0) > 0) && <Cards domainId={domainId} {...period} />}
    </>
  );
}

/** The end of the newest day with decisions; undefined if there is none, or the series is not by day. */
const lastDayIn = (series: DomainStats['series'] = []): string | undefined => {
  const last = series.findLast((each) => each.total > 0);
  return last && 'date' in last ? `${last.date}T23:59:59.999Z` : undefined;
};
