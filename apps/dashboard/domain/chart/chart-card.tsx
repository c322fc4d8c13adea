/** The chart of a period: the opt-in rate, or the decisions, by day, week or month. */
import '../../parts/paper.css';
import { useMemo } from 'preact/hooks';
import type { DomainStats } from '#libs/stats/contract';
import type { Unit } from '../../charts/scale.ts';
import { StackedChart } from '../../charts/stacked-chart.tsx';
import { type Interval, intervalsOf, type Period } from '../../data/periods.ts';
import { domainAddress } from '../../data/router.ts';
import { dayRange } from '../../format.ts';
import { Chips } from '../../parts/chips.tsx';
import { bucketsOf } from './buckets.ts';
import { Rates } from './rates.tsx';

export interface ChartProps {
  stats: DomainStats;
  period: Period;
  interval: Interval | undefined;
  hasCounts: boolean;
  domainId: string;
}

const units: Record<Interval, Unit> = { day: 'Day', week: 'Week', month: 'Month' };

export function ChartCard({ stats, period, interval: asked = 'day', hasCounts, domainId }: ChartProps) {
  // the response on screen may still be by month when days are chosen: show months until the new one comes
  const interval = stats.series?.some((each) => 'month' in each) ? 'month' : asked;
  const buckets = useMemo(() => bucketsOf(stats, interval), [stats, interval]);
  const unit = units[interval];
  const title = `${hasCounts ? 'Decisions' : 'Opt-in rate'} by ${unit.toLowerCase()}`;
  const label = `${title}, ${dayRange(stats.from, stats.to)}`;
  const addressOf = (query: { interval?: Interval; chart?: string | undefined }) =>
    domainAddress(domainId, { ...period, interval: asked, chart: hasCounts ? 'counts' : undefined, ...query });
  return (
    <section class="card chart-card">
      <header class="card-head">
        <h2>{title}</h2>
        <div class="cluster">
          <Chips
            label="Chart of"
            chips={[
              { name: 'Rate', address: addressOf({ chart: undefined }), isCurrent: !hasCounts },
              { name: 'Counts', address: addressOf({ chart: 'counts' }), isCurrent: hasCounts },
            ]}
          />
          {/* a single day has only one kind of chart */}
          {period.from !== period.to && (
            <Chips
              label="Chart by"
              chips={intervalsOf(period).map((each) => ({
                name: units[each],
                address: addressOf({ interval: each }),
                isCurrent: each === asked,
              }))}
            />
          )}
        </div>
      </header>
      {buckets.length === 0 ? (
        <p class="muted">A chart shows at most 366 days or 120 months. The other figures cover the whole period.</p>
      ) : hasCounts ? (
        <StackedChart label={label} buckets={buckets} unit={unit} />
      ) : (
        <Rates {...{ label, unit, buckets, stats, period, interval, domainId }} />
      )}
    </section>
  );
}
