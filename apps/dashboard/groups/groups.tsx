/** All groups of one dimension, compared with the previous period. */
import './groups.css';
import '../parts/paper.css';
import type { Dimension } from '#libs/base/terms/terms';
import type { DomainStats } from '#libs/stats/contract';
import { completeness } from '../data/completeness.ts';
import { dimensionNames } from '../data/dimension-names.ts';
import { titleOf } from '../data/dimensions.ts';
import { canBeGrouped, defaultPeriod, type Period, periodBefore, periodIn } from '../data/periods.ts';
import { useReading } from '../data/query.ts';
import { groupsAddress } from '../data/router.ts';
import { now } from '../data/service-clock.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { dayRange } from '../format.ts';
import { Chips } from '../parts/chips.tsx';
import { LoadingOrError } from '../parts/loading-or-error.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { PaperTitle } from '../parts/paper-title.tsx';
import { PeriodPicker } from '../parts/period-picker.tsx';
import { RateFormulas } from '../parts/rate-formulas.tsx';
import { GroupTable } from './group-table.tsx';

interface Props {
  domainId: string;
  by: Dimension;
  query: URLSearchParams;
}

const dimensions = Object.keys(dimensionNames) as Dimension[];

const hasValues = ({ groups = [] }: DomainStats): boolean => groups.some(({ value }) => value !== null);

export function Groups({ domainId, by, query }: Props) {
  const period = periodIn(query) ?? defaultPeriod(now());
  const { api } = useSignedIn();
  // only offered if records have it: few websites have different rules for different places
  const models = useReading<DomainStats | null>(groupsAddress(domainId, 'model', { ...period }), async (signal) =>
    canBeGrouped(period) ? api.stats(domainId, { ...period, by: 'model' }, signal) : null,
  );
  const isOffered = (each: Dimension) => each !== 'model' || by === each || (models.value && hasValues(models.value));
  return (
    <>
      <PageHead
        note={`${dayRange(period.from, period.to)} (UTC)`}
        domain={{ domainId, page: 'groups', name: `Decisions by ${dimensionNames[by]}` }}
      />
      <Chips
        label="Group by"
        chips={dimensions.filter(isOffered).map((each) => ({
          name: titleOf(each),
          address: groupsAddress(domainId, each, { ...period }),
          isCurrent: each === by,
        }))}
      />
      <PaperTitle what={`Decisions by ${dimensionNames[by]}`} domainId={domainId} {...period} />
      <PeriodPicker period={period} addressOf={(chosen) => groupsAddress(domainId, by, { ...chosen })} />
      {canBeGrouped(period) ? (
        <Grouped domainId={domainId} by={by} period={period} />
      ) : (
        <p class="notice">Figures by {dimensionNames[by]} cover at most 366 days: choose a shorter period.</p>
      )}
    </>
  );
}

interface Compared {
  /** the dimension of the response */
  by: Dimension;
  stats: DomainStats;
  before: DomainStats | null;
}

function Grouped({ domainId, by, period }: Omit<Props, 'query'> & { period: Period }) {
  const { api } = useSignedIn();
  const reading = useReading<Compared>(groupsAddress(domainId, by, { ...period }), async (signal) => {
    const earlier = periodBefore(period, now());
    const [stats, before] = await Promise.all([
      api.stats(domainId, { ...period, by }, signal),
      earlier && api.stats(domainId, { ...earlier, by }, signal),
    ]);
    return { by, stats, before };
  });
  const { value } = reading;
  // figures of another dimension are replaced, not faded
  if (value?.by !== by) return <LoadingOrError reading={{ ...reading, value: undefined }} kind="table" />;
  return (
    <section class={reading.isLate ? 'card stack groups fading' : 'card stack groups'} aria-busy={reading.isLoading}>
      <p class="muted">{completeness(value.stats)}</p>
      <GroupTable {...value} domainId={domainId} />
      <RateFormulas>
        {by === 'category' && (
          <p>
            <strong>Allowed</strong> = decisions that allow the category ÷ decisions that name it, withdrawals too. The
            rest of a bar denied it.
          </p>
        )}
        {value.stats.displays !== undefined && (
          <p>
            <strong>No-choice rate</strong> = 1 − choices in the banner ÷ displays, at least 0.
          </p>
        )}
      </RateFormulas>
    </section>
  );
}
