/** One domain over any period, beside the period before. All of it is in the address. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { DomainStats, Organization } from '#libs/contract/responses';
import { type Bucket, StackedChart } from '../../charts/stacked.tsx';
import type { Api } from '../../data/api.ts';
import { sumOf } from '../../data/decisions.ts';
import { useLive } from '../../data/live.ts';
import {
  type Interval,
  includesToday,
  intervalIn,
  intervalsOf,
  type Period,
  periodBefore,
  periodIn,
  usualPeriod,
} from '../../data/periods.ts';
import { useReading } from '../../data/reading.ts';
import { domainAddress, go } from '../../data/router.ts';
import { now } from '../../data/service-clock.ts';
import { count, dayTick, growth, month as monthName, monthTick, range, share, weekday } from '../../format.ts';
import { BreakdownCard, ShareBar } from '../../parts/breakdown.tsx';
import { TroubleCard } from '../../parts/error-card.tsx';
import { Change, Figure } from '../../parts/figure.tsx';
import { FirstRecord } from '../../parts/first-steps.tsx';
import { LiveMark } from '../../parts/live-badge.tsx';
import { OptIn } from '../../parts/opt-in.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { PeriodPicker } from './period-picker.tsx';

interface View {
  stats: DomainStats;
  /** null where nothing can have been counted before */
  before: DomainStats | null;
}

export function Domain({
  api,
  organization,
  domainId,
  query,
}: {
  api: Api;
  organization: Organization;
  domainId: string;
  query: URLSearchParams;
}) {
  const period = periodIn(query) ?? usualPeriod(now());
  const interval = intervalIn(query, period);
  const address = domainAddress(domainId, { ...period, interval });
  // the address is put right below; what was wrong with it has to be told all the same
  const mended = useRef<string | null>(null);
  if (periodIn(query) === null && (query.has('from') || query.has('to'))) mended.current = address;
  // a link to this page shows these days tomorrow too
  useEffect(() => {
    if (location.pathname + location.search !== address) go(address, { replace: true });
  }, [address]);

  const reading = useReading<View>(address, async (signal) => {
    const earlier = periodBefore(period, now());
    const [stats, before] = await Promise.all([
      api.stats(domainId, { ...period, interval }, signal),
      earlier && api.stats(domainId, earlier, signal),
    ]);
    return { stats, before };
  });
  const view = reading.value;
  const isOpen = includesToday(period, now());
  const live = useLive<DomainStats>(view && !reading.isLoading && isOpen ? address : null, {
    ask: (signal) => api.stats(domainId, { ...period, interval }, signal),
    onAnswer: (stats) => {
      if (view) reading.put({ ...view, stats });
    },
  });
  const domain = organization.domains.find((each) => each.domainId === domainId) ?? { domainId, name: domainId };
  const addressOf = (chosen: Period) => domainAddress(domainId, { ...chosen });
  return (
    <>
      <PageHead
        title={domain.name}
        note={`${range(period.from, period.to)} (UTC)${isOpen ? ', today so far included' : ''}`}
        domain={{ domainId, page: 'domain' }}
      >
        {view && <LiveMark state={live} />}
      </PageHead>
      <PeriodPicker period={period} addressOf={addressOf} go={go} />
      {mended.current === address && (
        <p class="notice" role="status">
          The address names no valid period; these are the last 30 days.
        </p>
      )}
      {reading.trouble && <TroubleCard trouble={reading.trouble} retry={reading.retry} />}
      {!view && !reading.trouble && <Skeleton kind="page" isSlow={reading.isSlow} />}
      {view && (
        <div class={reading.isLate ? 'fading' : undefined} aria-busy={reading.isLoading}>
          {reading.isSlow && (
            <p class="notice" role="status">
              Still loading. These are the figures of {range(view.stats.from, view.stats.to)}.
            </p>
          )}
          {view.stats.total === 0 && !view.before?.total && isOpen ? (
            <FirstRecord domain={domain} period={`from ${range(view.stats.from, view.stats.to)}`} />
          ) : (
            <Statistics view={view} period={period} interval={interval} domainId={domainId} />
          )}
        </div>
      )}
    </>
  );
}

function Statistics({
  view,
  period,
  interval,
  domainId,
}: {
  view: View;
  period: Period;
  interval: Interval | undefined;
  domainId: string;
}) {
  const { stats, before } = view;
  const { total, breakdown } = stats;
  const earlier = before ? range(before.from, before.to) : 'an earlier period';
  // one day that is not over beside a whole one: a percentage would only tell the time of day
  const isOpen = includesToday(stats, now());
  const isPartDay = isOpen && stats.from === stats.to;
  const change = before && !isPartDay && growth(before.total, total);
  const when = before && before.from === before.to ? `on ${earlier}` : `in ${earlier}`;
  const soFar = isPartDay ? 'so far; ' : isOpen ? 'so far, against ' : 'against ';
  return (
    <>
      <div class="figures-row figures-row-3">
        <Figure
          name="Decisions"
          value={count(total)}
          note={
            <>
              {before && change && <Change text={change} />} {before && `${soFar}${count(before.total)} ${when}`}
            </>
          }
        >
          <ShareBar breakdown={breakdown} total={total} />
        </Figure>
        <OptIn
          breakdown={breakdown}
          compared={{
            now: breakdown,
            before: before?.breakdown ?? sumOf([]),
            words: `against ${earlier}`,
            without: when,
          }}
        />
        <Figure
          name="Withdrawals"
          value={count(breakdown.withdraw)}
          note={total > 0 ? `${share(breakdown.withdraw / total)} of all decisions took consent back` : 'no decisions'}
        />
      </div>
      <div class="columns columns-chart">
        <ChartCard stats={stats} period={period} interval={interval} domainId={domainId} />
        {before ? (
          <BreakdownCard now={stats} before={before} note={`Before: ${earlier}`} isPartDay={isPartDay} />
        ) : (
          <BreakdownCard now={stats} />
        )}
      </div>
    </>
  );
}

function ChartCard({
  stats,
  period,
  interval,
  domainId,
}: {
  stats: DomainStats;
  period: Period;
  interval: Interval | undefined;
  domainId: string;
}) {
  const buckets = useMemo(() => bucketsOf(stats), [stats]);
  const unit = stats.series?.some((each) => 'month' in each) ? 'Month' : 'Day';
  return (
    <section class="card">
      <header class="card-head">
        <h2>Decisions by {unit.toLowerCase()}</h2>
        {/* of one day both would draw the same bar */}
        {period.from !== period.to && (
          <nav class="chips" aria-label="Chart by">
            {intervalsOf(period).map((each) => (
              <a
                key={each}
                href={domainAddress(domainId, { ...period, interval: each })}
                aria-current={each === interval ? 'true' : undefined}
              >
                {each === 'day' ? 'Day' : 'Month'}
              </a>
            ))}
          </nav>
        )}
      </header>
      {buckets.length === 0 ? (
        <p class="muted">
          A chart takes at most 366 days or 120 months. The figures beside it are of the whole period.
        </p>
      ) : (
        <StackedChart
          label={`Decisions by ${unit.toLowerCase()}, ${range(stats.from, stats.to)}`}
          buckets={buckets}
          unit={unit}
        />
      )}
    </section>
  );
}

const bucketsOf = ({ series = [] }: DomainStats): Bucket[] =>
  series.map((each) =>
    'date' in each
      ? { ...each, name: weekday(each.date), tick: dayTick(each.date) }
      : { ...each, name: monthName(each.month), tick: monthTick(each.month) },
  );
