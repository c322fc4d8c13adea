/** The figures of a period, compared with the period before. */
import type { DomainStats } from '#libs/contract/statistics';
import { ShareBar } from '../../charts/share-bar.tsx';
import { sumOf } from '../../data/decisions.ts';
import { type Interval, includesToday, type Period } from '../../data/periods.ts';
import { now } from '../../data/service-clock.ts';
import { count, dayRange, growth, share } from '../../format.ts';
import { BreakdownCard } from '../../parts/breakdown-card.tsx';
import { Change, Figure } from '../../parts/figure.tsx';
import { OptInFigure } from '../../parts/opt-in-figure.tsx';
import { ChartCard } from './chart-card.tsx';

export interface ComparedStats {
  stats: DomainStats;
  /** null where the period before cannot have counters */
  before: DomainStats | null;
}

export function Statistics({
  view: { stats, before },
  period,
  interval,
  domainId,
}: {
  view: ComparedStats;
  period: Period;
  interval: Interval | undefined;
  domainId: string;
}) {
  const { total, breakdown } = stats;
  const earlier = before ? dayRange(before.from, before.to) : 'an earlier period';
  // against a whole day, a percentage of today would only reflect the time of day
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
        <OptInFigure
          breakdown={breakdown}
          compared={{
            now: breakdown,
            before: before?.breakdown ?? sumOf([]),
            description: `against ${earlier}`,
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
