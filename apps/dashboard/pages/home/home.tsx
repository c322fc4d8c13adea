/** The home page: 30 days of all domains, and the latest records. */
import './home.css';
import type { Organization } from '#libs/contract/statistics';
import type { Api } from '../../data/api.ts';
import { useReading } from '../../data/reading.ts';
import { dayRange } from '../../format.ts';
import { ErrorCard } from '../../parts/error-card.tsx';
import { LiveBadge } from '../../parts/live-badge.tsx';
import { OrganizationTabs } from '../../parts/organization-tabs.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Overview } from './overview.tsx';
import { type OverviewState, readOverview, useOverviewPoll } from './overview-state.ts';

interface Props {
  api: Api;
  organization: Organization;
  onOrganization(organization: Organization): void;
}

export function Home({ api, organization, onOrganization }: Props) {
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
        tabs={<OrganizationTabs organization={organization} page="home" />}
      >
        {live && <LiveBadge state={live} />}
      </PageHead>
      {reading.error && <ErrorCard error={reading.error} retry={reading.retry} />}
      {!state && !reading.error && <Skeleton kind="page" isSlow={reading.isSlow} />}
      {state && <Overview state={state} organization={organization} api={api} put={reading.put} />}
    </>
  );
}
