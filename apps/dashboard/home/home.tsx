/** The home page: the figures of all domains for 30 days or the period in the address, and the latest records. */
import './home.css';
import { includesToday, periodIn } from '../data/periods.ts';
import { useReading } from '../data/query.ts';
import { mayRead } from '../data/scopes.ts';
import { now } from '../data/service-clock.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { dayRange } from '../format.ts';
import { lazy } from '../parts/lazy.tsx';
import { LoadingOrError } from '../parts/loading-or-error.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Overview } from './overview.tsx';
import { type OverviewState, readOverview, useOverviewPoll } from './overview-state.ts';

const WithoutFigures = lazy(() => import('./without-figures.tsx'))((page) => page.WithoutFigures);

export const Home = ({ query }: { query: URLSearchParams }) =>
  mayRead(useSignedIn().organization) ? <Figures query={query} /> : <WithoutFigures />;

function Figures({ query }: { query: URLSearchParams }) {
  const { api, organization, onOrganization } = useSignedIn();
  const reading = useReading<OverviewState>('home', (signal) => readOverview(api, signal));
  const state = reading.value;
  const chosen = periodIn(query);
  const period = chosen ?? state?.stats.period;
  const live = useOverviewPoll(api, state, organization.domains.length > 0, { put: reading.put, onOrganization });
  return (
    <>
      <PageHead
        title="Overview"
        note={[!chosen && 'Last 30 days', period && `${dayRange(period.from, period.to)} (UTC)`, 'all domains']
          .filter(Boolean)
          .join(', ')}
        tabs="home"
        live={chosen && !includesToday(chosen, now()) ? null : (live ?? undefined)}
      />
      {!chosen && query.has('from') && (
        <p class="notice" role="status">
          The address has no valid period, so these are the last 30 days.
        </p>
      )}
      <LoadingOrError reading={reading} kind="page" />
      {state && <Overview state={state} reading={reading} chosen={chosen} />}
    </>
  );
}
