/** What an A/B test shows, and whether one may conclude anything yet. */
import './experiments.css';
import type { DomainStats, Organization } from '#libs/contract/statistics';
import type { Api } from '../../data/api.ts';
import { completeness } from '../../data/completeness.ts';
import { domainIn } from '../../data/domains.ts';
import { experimentsOf, titleOf } from '../../data/experiments.ts';
import { defaultPeriod, isGrouped, type Period, periodIn } from '../../data/periods.ts';
import { useReading } from '../../data/reading.ts';
import { experimentsAddress, navigate } from '../../data/router.ts';
import { now } from '../../data/service-clock.ts';
import { dayRange } from '../../format.ts';
import { ErrorCard } from '../../parts/error-card.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { PeriodPicker } from '../../parts/period-picker.tsx';
import { RateFormulas } from '../../parts/rate-formulas.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { ExperimentFormulas } from './experiment-formulas.tsx';
import { OneExperiment } from './one-experiment.tsx';

interface Props {
  api: Api;
  organization: Organization;
  domainId: string;
  query: URLSearchParams;
}

/** In addresses for variants that name no experiment: no name can hold it. */
const unnamed = ':';

export function Experiments({ api, organization, domainId, query }: Props) {
  const period = periodIn(query) ?? defaultPeriod(now());
  const asked = query.get('experiment') ?? undefined;
  const { name } = domainIn(organization, domainId);
  return (
    <>
      <PageHead
        title={name}
        note={`Experiments, ${dayRange(period.from, period.to)} (UTC)`}
        domain={{ domainId, page: 'experiments', organization }}
      />
      <PeriodPicker
        period={period}
        addressOf={(chosen) => experimentsAddress(domainId, { ...chosen, experiment: asked })}
        navigate={navigate}
      />
      {isGrouped(period) ? (
        <Experimented api={api} domainId={domainId} period={period} asked={asked} />
      ) : (
        <p class="notice">Experiments cover at most 366 days: choose a shorter period.</p>
      )}
    </>
  );
}

interface ExperimentedProps extends Pick<Props, 'api' | 'domainId'> {
  period: Period;
  asked: string | undefined;
}

function Experimented({ api, domainId, period, asked }: ExperimentedProps) {
  const reading = useReading<DomainStats>(experimentsAddress(domainId, { ...period }), (signal) =>
    api.stats(domainId, { ...period, by: 'variant' }, signal),
  );
  const { value } = reading;
  if (reading.error) return <ErrorCard error={reading.error} retry={reading.retry} />;
  if (!value) return <Skeleton kind="table" isSlow={reading.isSlow} />;
  const experiments = experimentsOf(value);
  const chosen = experiments.find(({ name }) => (name || unnamed) === asked) ?? experiments[0];
  if (!chosen) return <NoExperiments />;
  return (
    <>
      {experiments.length > 1 && (
        <nav class="chips" aria-label="Experiment">
          {experiments.map((each) => (
            <a
              key={each.name}
              href={experimentsAddress(domainId, { ...period, experiment: each.name || unnamed })}
              aria-current={each === chosen ? 'true' : undefined}
            >
              <bdi>{titleOf(each)}</bdi>
            </a>
          ))}
        </nav>
      )}
      <section
        class={reading.isLate ? 'card experiment fading' : 'card experiment'}
        aria-busy={reading.isLoading}
        aria-labelledby="experiment-title"
      >
        <header>
          <h2 id="experiment-title">
            <bdi>{titleOf(chosen)}</bdi>
          </h2>
          <p class="muted">{completeness(value)}</p>
        </header>
        <OneExperiment experiment={chosen} />
        <RateFormulas>
          <ExperimentFormulas />
        </RateFormulas>
      </section>
    </>
  );
}

const NoExperiments = () => (
  <section class="card message">
    <h2>No experiments in these days</h2>
    <p>
      Show two banners to visitors by chance, and send which one as the record’s <code>variant</code>, such as{' '}
      <code>wording:plain</code> and <code>wording:short</code>: this page compares their opt-in rates.
    </p>
  </section>
);
