/** The home page: 30 days of all domains, and the latest records. */
import './home.css';
import { useReading } from '../data/query.ts';
import { mayRead } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { dayRange } from '../format.ts';
import { later } from '../parts/later.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Unanswered } from '../parts/unanswered.tsx';
import { Overview } from './overview.tsx';
import { type OverviewState, readOverview, useOverviewPoll } from './overview-state.ts';

const WithoutFigures = later(() => import('./without-figures.tsx'))((page) => page.WithoutFigures);

export const Home = () => (mayRead(useSignedIn().organization) ? <Figures /> : <WithoutFigures />);

function Figures() {
  const { api, organization, onOrganization } = useSignedIn();
  const reading = useReading<OverviewState>('home', (signal) => readOverview(api, signal));
  const state = reading.value;
  const live = useOverviewPoll(api, state, organization.domains.length > 0, { put: reading.put, onOrganization });
  return (
    <>
      <PageHead
        title="Overview"
        note={
          state
            ? `Last 30 days, ${dayRange(state.stats.period.from, state.stats.period.to)} (UTC), all domains`
            : 'Last 30 days, all domains'
        }
        tabs="home"
        live={live ?? undefined}
      />
      <Unanswered reading={reading} kind="page" />
      {state && <Overview state={state} reading={reading} />}
    </>
  );
}
