/** The results of A/B tests, and whether they allow a conclusion yet. */
import './experiments.css';
import '../parts/paper.css';
import type { DomainStats } from '#libs/stats/contract';
import { completeness } from '../data/completeness.ts';
import { experimentsOf, titleOf } from '../data/experiment-figures.ts';
import { canBeGrouped, defaultPeriod, type Period, periodIn } from '../data/periods.ts';
import { useReading } from '../data/query.ts';
import { experimentsAddress } from '../data/router.ts';
import { now } from '../data/service-clock.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { dayRange } from '../format.ts';
import { Chips } from '../parts/chips.tsx';
import { LoadingOrError } from '../parts/loading-or-error.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { PaperTitle } from '../parts/paper-title.tsx';
import { PeriodPicker } from '../parts/period-picker.tsx';
import { RateFormulas } from '../parts/rate-formulas.tsx';
import { OneExperiment } from './one-experiment.tsx';

interface Props {
  domainId: string;
  query: URLSearchParams;
}

/** Stands in addresses for variants without an experiment; not a valid name. */
const unnamed = ':';

export function Experiments({ domainId, query }: Props) {
  const period = periodIn(query) ?? defaultPeriod(now());
  const asked = query.get('experiment') ?? undefined;
  return (
    <>
      <PageHead note={`${dayRange(period.from, period.to)} (UTC)`} domain={{ domainId, page: 'experiments' }} />
      <PaperTitle what="Experiments" domainId={domainId} {...period} />
      <PeriodPicker
        period={period}
        addressOf={(chosen) => experimentsAddress(domainId, { ...chosen, experiment: asked })}
      />
      {canBeGrouped(period) ? (
        <Experimented domainId={domainId} period={period} asked={asked} />
      ) : (
        <p class="notice">Experiments cover at most 366 days: choose a shorter period.</p>
      )}
    </>
  );
}

interface ExperimentedProps extends Pick<Props, 'domainId'> {
  period: Period;
  asked: string | undefined;
}

function Experimented({ domainId, period, asked }: ExperimentedProps) {
  const { api } = useSignedIn();
  const reading = useReading<DomainStats>(experimentsAddress(domainId, { ...period }), (signal) =>
    api.stats(domainId, { ...period, by: 'variant' }, signal),
  );
  const { value } = reading;
  if (!value) return <LoadingOrError reading={reading} kind="table" />;
  const experiments = experimentsOf(value);
  const chosen = experiments.find(({ name }) => (name || unnamed) === asked) ?? experiments[0];
  if (!chosen) return <NoExperiments />;
  return (
    <>
      {experiments.length > 1 && (
        <Chips
          label="Experiment"
          chips={experiments.map((each) => ({
            name: each.name === '' ? titleOf(each) : each.name,
            address: experimentsAddress(domainId, { ...period, experiment: each.name || unnamed }),
            isCurrent: each === chosen,
          }))}
        />
      )}
      <section
        class={reading.isLate ? 'card stack gap-16 experiment fading' : 'card stack gap-16 experiment'}
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

/** Explains the intervals and their limits. */
const ExperimentFormulas = () => (
  <>
    <p>
      <strong>95% interval</strong>: Wilson’s score interval of opt-ins among choices. In 19 of 20 experiments such an
      interval holds the true rate.
    </p>
    <p>
      <strong>Difference</strong>: the opt-in rate less that of the first variant, with Newcombe’s interval (method 10),
      made of both Wilson intervals. If it holds 0, the variants may be equally good. A difference is called better or
      worse from 100 choices of each variant on.
    </p>
    <p>
      <strong>Equal shares</strong>: a chi-square test of the variants’ displays, or of their choices where displays are
      not recorded. The service does not know which shares you intended.
    </p>
    <p>
      Decide beforehand how long an experiment runs: an interval is meant for one look, and whoever looks each day until
      one variant is ahead is misled more often than once in 20. The same goes for comparing many variants.
    </p>
  </>
);
