/** The decisions of all domains, by day or month. */
import { useMemo } from 'preact/hooks';
import { StackedChart } from '../charts/stacked-chart.tsx';
import { dayRange, dayTick, dayWithWeekday, monthName, monthTick } from '../format.ts';
import type { Figures } from './overview-figures.ts';

interface Props {
  figures: Figures;
  /** the last 30 days */
  isLast: boolean;
}

export function OverviewChart({ figures: { from, to, series = [] }, isLast }: Props) {
  const buckets = useMemo(
    () =>
      series.map((each) =>
        'date' in each
          ? { ...each, name: dayWithWeekday(each.date), tick: dayTick(each.date) }
          : { ...each, name: monthName(each.month), tick: monthTick(each.month) },
      ),
    [series],
  );
  const unit = series.some((each) => 'month' in each) ? 'Month' : 'Day';
  const title = `Decisions by ${unit.toLowerCase()}`;
  return (
    <section class="card">
      <header class="card-head">
        <h2>{title}</h2>
      </header>
      {buckets.length === 0 ? (
        <p class="muted">A chart shows at most 366 days or 120 months.</p>
      ) : (
        <StackedChart
          label={`${title}, ${isLast ? 'last 30 days' : dayRange(from, to)}`}
          buckets={buckets}
          unit={unit}
        />
      )}
    </section>
  );
}
