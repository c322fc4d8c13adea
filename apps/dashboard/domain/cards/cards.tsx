/** A period's decisions by country, device and other dimensions. Complete within about a minute. */
import './cards.css';
import type { Dimension } from '#libs/base/terms/terms';
import type { DomainStats } from '#libs/stats/contract';
import { completeness } from '../../data/completeness.ts';
import { experimentsOf } from '../../data/experiment-figures.ts';
import { funnelOf } from '../../data/group-rows.ts';
import { useLiveValue } from '../../data/live-value.ts';
import { canBeGrouped, includesToday, type Period } from '../../data/periods.ts';
import { domainAddress } from '../../data/router.ts';
import { now } from '../../data/service-clock.ts';
import { useSignedIn } from '../../data/signed-in.ts';
import { LoadingOrError } from '../../parts/loading-or-error.tsx';
import { memo } from '../../parts/memo.ts';
import { RateFormulas } from '../../parts/rate-formulas.tsx';
import { ExperimentCard } from './experiment-card.tsx';
import { FunnelCard } from './funnel-card.tsx';
import { GroupCard } from './group-card.tsx';

const carded = ['country', 'device', 'language', 'category', 'bannerVersion'] as const;
/** milliseconds; grouped figures change once an epoch */
const interval = 60_000;

interface Props extends Period {
  domainId: string;
}

export const Cards = (props: Props) => <Section {...props} />;

// memoized, since the page around it renders with each poll
const Section = memo((props: Props) => (
  <section class="stack" aria-labelledby="groups-title">
    {canBeGrouped(props) ? (
      <GroupedCards {...props} />
    ) : (
      <>
        <Head />
        <p class="notice">Figures by country, device and so on cover at most 366 days: choose a shorter period.</p>
      </>
    )}
  </section>
));

function GroupedCards({ domainId, from, to }: Props) {
  const { api } = useSignedIn();
  const key = domainAddress(domainId, { from, to });
  const read = (signal: AbortSignal) => readAll((by) => api.stats(domainId, { from, to, by }, signal));
  const reading = useLiveValue(key, { read, interval, isQuiet: !includesToday({ from, to }, now()) });
  const { value } = reading;
  if (!value) return <LoadingOrError reading={reading} kind="table" />;
  const period = { from: value.source.from, to: value.source.to };
  const funnel = funnelOf(value.source);
  const experiments = experimentsOf(value.variant);
  return (
    <>
      <Head stats={value.source} />
      <div class={reading.isLate ? 'stack cards-grid fading' : 'stack cards-grid'} aria-busy={reading.isLoading}>
        {funnel && <FunnelCard domainId={domainId} period={period} funnel={funnel} />}
        {experiments.length > 0 && <ExperimentCard domainId={domainId} period={period} experiments={experiments} />}
        {carded.map((by) => (
          <GroupCard key={by} domainId={domainId} by={by} period={period} stats={value[by]} />
        ))}
      </div>
      <RateFormulas />
    </>
  );
}

const Head = ({ stats }: { stats?: DomainStats }) => (
  <header class="stack gap-2">
    <h2 id="groups-title">Breakdown by audience</h2>
    {stats && <p class="hint">{completeness(stats)} Opt-in rates are of each group’s own choices.</p>}
  </header>
);

type Answers = Record<(typeof carded)[number] | 'source' | 'variant', DomainStats>;

async function readAll(read: (by: Dimension) => Promise<DomainStats>): Promise<Answers> {
  const [source, variant, country, device, language, category, bannerVersion] = await Promise.all([
    read('source'),
    read('variant'),
    read('country'),
    read('device'),
    read('language'),
    read('category'),
    read('bannerVersion'),
  ]);
  return { source, variant, country, device, language, category, bannerVersion };
}
