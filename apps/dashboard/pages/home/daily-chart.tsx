/** The organization's last 30 days. */
import { useMemo } from 'preact/hooks';
import type { OrgStats } from '#libs/contract/log';
import { StackedChart } from '../../charts/stacked-chart.tsx';
import { dayTick, dayWithWeekday } from '../../format.ts';

export function DailyChart({ daily }: { daily: OrgStats['daily'] }) {
  const buckets = useMemo(
    () => daily.map((each) => ({ ...each, name: dayWithWeekday(each.date), tick: dayTick(each.date) })),
    [daily],
  );
  return (
    <section class="card">
      <header class="card-head">
        <h2>Decisions by day</h2>
      </header>
      <StackedChart label="Decisions by day, last 30 days" buckets={buckets} unit="Day" />
    </section>
  );
}
