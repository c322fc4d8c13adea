/** All groups of one dimension, beside those of the period before. */
import './groups.css';
import type { DomainStats, Organization } from '#libs/contract/statistics';
import type { Dimension } from '#libs/contract/terms';
import type { Api } from '../../data/api.ts';
import { completeness } from '../../data/completeness.ts';
import { dimensionNames } from '../../data/dimension-names.ts';
import { titleOf } from '../../data/dimensions.ts';
import { domainIn } from '../../data/domains.ts';
import { defaultPeriod, isGrouped, type Period, periodBefore, periodIn } from '../../data/periods.ts';
import { useReading } from '../../data/reading.ts';
import { groupsAddress, navigate } from '../../data/router.ts';
import { now } from '../../data/service-clock.ts';
import { dayRange } from '../../format.ts';
import { ErrorCard } from '../../parts/error-card.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { PeriodPicker } from '../../parts/period-picker.tsx';
import { RateFormulas } from '../../parts/rate-formulas.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { useCurrentInView } from '../../parts/use-current-in-view.ts';
import { GroupTable } from './group-table.tsx';

interface Props {
  api: Api;
  organization: Organization;
  domainId: string;
  by: Dimension;
  query: URLSearchParams;
}

const dimensions = Object.keys(dimensionNames) as Dimension[];

export function Groups({ api, organization, domainId, by, query }: Props) {
  const period = periodIn(query) ?? defaultPeriod(now());
  const { name } = domainIn(organization, domainId);
  const chips = useCurrentInView(by);
  return (
    <>
      <PageHead
        title={name}
        note={`Decisions by ${dimensionNames[by]}, ${dayRange(period.from, period.to)} (UTC)`}
        domain={{ domainId, page: 'groups', crumb: `By ${dimensionNames[by]}`, organization }}
      />
      <nav class="chips" aria-label="Group by" ref={chips}>
        {dimensions.map((each) => (
          <a
            key={each}
            href={groupsAddress(domainId, each, { ...period })}
            aria-current={each === by ? 'true' : undefined}
          >
            {titleOf(each)}
          </a>
        ))}
      </nav>
      <PeriodPicker
        period={period}
        addressOf={(chosen) => groupsAddress(domainId, by, { ...chosen })}
        navigate={navigate}
      />
      {isGrouped(period) ? (
        <Grouped api={api} domainId={domainId} by={by} period={period} />
      ) : (
        <p class="notice">Figures by {dimensionNames[by]} cover at most 366 days: choose a shorter period.</p>
      )}
    </>
  );
}

interface Compared {
  /** The answer is of this dimension. */
  by: Dimension;
  stats: DomainStats;
  before: DomainStats | null;
}

function Grouped({ api, domainId, by, period }: Omit<Props, 'organization' | 'query'> & { period: Period }) {
  const reading = useReading<Compared>(groupsAddress(domainId, by, { ...period }), async (signal) => {
    const earlier = periodBefore(period, now());
    const [stats, before] = await Promise.all([
      api.stats(domainId, { ...period, by }, signal),
      earlier && api.stats(domainId, { ...earlier, by }, signal),
    ]);
    return { by, stats, before };
  });
  const { value } = reading;
  if (reading.error) return <ErrorCard error={reading.error} retry={reading.retry} />;
  // with another dimension's figures on the page, nothing fades
  if (value?.by !== by) return <Skeleton kind="table" isSlow={reading.isSlow} />;
  return (
    <section class={reading.isLate ? 'card groups fading' : 'card groups'} aria-busy={reading.isLoading}>
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
