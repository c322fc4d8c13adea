/** The figures of a period, compared with the previous period. */
import type { DomainStats } from '#libs/stats/contract';
import { ShareBar } from '../charts/share-bar.tsx';
import { proportionOf } from '../data/group-rows.ts';
import { includesToday, nameOfPrevious } from '../data/periods.ts';
import { now } from '../data/service-clock.ts';
import { count, dayRange, growth, share } from '../format.ts';
import { BreakdownCard } from '../parts/breakdown-card.tsx';
import { Change, Figure, OptInFigure } from '../parts/figure.tsx';
import { lazy } from '../parts/lazy.tsx';
import type { ChartProps } from './chart/chart-card.tsx';

const ChartCard = lazy(() => import('./chart/chart-card.tsx'))((page) => page.ChartCard, 'table');

export interface ComparedStats {
  stats: DomainStats;
  /** null if the previous period cannot have counters */
  before: DomainStats | null;
  /** whether the domain already had decisions when the previous period started */
  isCovered: boolean;
}

interface Props extends Omit<ChartProps, 'stats'> {
  view: ComparedStats;
}

const withoutBefore = 'no full period before';

export function Statistics({ view: { stats, before: rated, isCovered }, ...chart }: Props) {
  const { total, breakdown } = stats;
  // without full coverage of the previous period, growth would mean nothing
  const before = isCovered ? rated : null;
  const earlier = rated ? dayRange(rated.from, rated.to) : '';
  // comparing today with a whole day would only reflect the time of day
  const isOpen = includesToday(stats, now());
  const isPartDay = isOpen && stats.from === stats.to;
  const change = before && !isPartDay && growth(before.total, total);
  const previous = before ? nameOfPrevious(before, stats) : '';
  return (
    <>
      <div class="figures-row figures-row-3">
        <Figure
          name="Decisions"
          value={count(total)}
          note={
            <>
              {before && change && <Change text={change} />}{' '}
              {before ? `vs. ${count(before.total)} in ${previous}` : withoutBefore}
            </>
          }
        >
          <ShareBar breakdown={breakdown} total={total} />
        </Figure>
        <OptInFigure
          choices={stats.choices}
          optInRate={stats.optInRate}
          isBehind={stats.pending !== undefined}
          compared={{
            now: proportionOf([stats]),
            before: rated ? (rated.optInRate === undefined ? undefined : proportionOf([rated])) : null,
            description: `vs. ${earlier}`,
            without: before ? `too few choices to compare with ${previous}` : withoutBefore,
          }}
        />
        <Figure
          name="Withdrawals"
          value={count(breakdown.withdraw)}
          note={total > 0 ? `${share(breakdown.withdraw / total)} of all decisions` : 'no decisions'}
        />
      </div>
      <div class="columns columns-chart">
        <ChartCard stats={stats} {...chart} />
        {before ? (
          <BreakdownCard now={stats} before={before} note={`Before: ${earlier}`} isPartDay={isPartDay} />
        ) : (
          <BreakdownCard now={stats} />
        )}
      </div>
    </>
  );
}
