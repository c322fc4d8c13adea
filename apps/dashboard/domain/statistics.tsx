/** The figures of a period, compared with the period before. */
import { useMemo } from 'preact/hooks';
import type { DomainStats } from '#libs/stats/contract';
import type { Bucket } from '../charts/scale.ts';
import { ShareBar } from '../charts/share-bar.tsx';
import { StackedChart } from '../charts/stacked-chart.tsx';
import { type Interval, includesToday, intervalsOf, nameOfPrevious, type Period } from '../data/periods.ts';
import { domainAddress } from '../data/router.ts';
import { now } from '../data/service-clock.ts';
import { count, dayRange, dayTick, dayWithWeekday, growth, monthName, monthTick, share } from '../format.ts';
import { BreakdownCard } from '../parts/breakdown-card.tsx';
import { Chips } from '../parts/chips.tsx';
import { Change, Figure, OptInFigure } from '../parts/figure.tsx';

export interface ComparedStats {
  stats: DomainStats;
  /** null where the period before cannot have counters */
  before: DomainStats | null;
}

interface Props {
  view: ComparedStats;
  period: Period;
  interval: Interval | undefined;
  domainId: string;
}

export function Statistics({ view: { stats, before }, period, interval, domainId }: Props) {
  const { total, breakdown } = stats;
  const earlier = before ? dayRange(before.from, before.to) : 'an earlier period';
  // against a whole day, a percentage of today would only reflect the time of day
  const isOpen = includesToday(stats, now());
  const isPartDay = isOpen && stats.from === stats.to;
  const change = before && !isPartDay && growth(before.total, total);
  const when = before ? `in ${nameOfPrevious(before, stats)}` : `in ${earlier}`;
  return (
    <>
      <div class="figures-row figures-row-3">
        <Figure
          name="Decisions"
          value={count(total)}
          note={
            <>
              {before && change && <Change text={change} />} {before && `vs. ${count(before.total)} ${when}`}
            </>
          }
        >
          <ShareBar breakdown={breakdown} total={total} />
        </Figure>
        <OptInFigure
          choices={stats.choices}
          optInRate={stats.optInRate}
          compared={{
            now: stats.optInRate,
            before: before ? before.optInRate : null,
            description: `vs. ${earlier}`,
            without: when,
          }}
        />
        <Figure
          name="Withdrawals"
          value={count(breakdown.withdraw)}
          note={total > 0 ? `${share(breakdown.withdraw / total)} of all decisions` : 'no decisions'}
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

interface ChartProps {
  stats: DomainStats;
  period: Period;
  interval: Interval | undefined;
  domainId: string;
}

/** The chart of a period, by day or by month. */
function ChartCard({ stats, period, interval, domainId }: ChartProps) {
  const buckets = useMemo(() => bucketsOf(stats), [stats]);
  const unit = stats.series?.some((each) => 'month' in each) ? 'Month' : 'Day';
  return (
    <section class="card">
      <header class="card-head">
        <h2>Decisions by {unit.toLowerCase()}</h2>
        {/* for one day both charts are the same bar */}
        {period.from !== period.to && (
          <Chips
            label="Chart by"
            chips={intervalsOf(period).map((each) => ({
              name: each === 'day' ? 'Day' : 'Month',
              address: domainAddress(domainId, { ...period, interval: each }),
              isCurrent: each === interval,
            }))}
          />
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
