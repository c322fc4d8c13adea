/** The chart of a period, by day or by month. */
import { useMemo } from 'preact/hooks';
import type { DomainStats } from '#libs/contract/statistics';
import type { Bucket } from '../../charts/bucket.ts';
import { StackedChart } from '../../charts/stacked-chart.tsx';
import { type Interval, intervalsOf, type Period } from '../../data/periods.ts';
import { domainAddress } from '../../data/router.ts';
import { dayRange, dayTick, dayWithWeekday, monthName, monthTick } from '../../format.ts';

export function ChartCard({
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
        {/* for one day both charts are the same bar */}
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
        <p class="muted">A chart shows at most 366 days or 120 months. The other figures cover the whole period.</p>
      ) : (
        <StackedChart
          label={`Decisions by ${unit.toLowerCase()}, ${dayRange(stats.from, stats.to)}`}
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
      ? { ...each, name: dayWithWeekday(each.date), tick: dayTick(each.date) }
      : { ...each, name: monthName(each.month), tick: monthTick(each.month) },
  );
