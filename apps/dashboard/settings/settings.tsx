/** What an organization manages: its domains, their settings and keys, and who did what. The token needs a scope. */
import './settings.css';
import { useState } from 'preact/hooks';
import type { MadeKey } from '#libs/tenants/contract';
import type { SettingsRoute } from '../data/router.ts';
import { mayManage, maySeeActs } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { NotAllowed } from '../parts/not-allowed.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Activity } from './activity.tsx';
import { AllDomains } from './all-domains.tsx';
import { NewDomain } from './domain-form.tsx';
import { OneDomain } from './one-domain.tsx';

interface Props {
  route: SettingsRoute;
}

export function Settings({ route }: Props) {
  const { organization } = useSignedIn();
  const [made, setMade] = useState<MadeKey | null>(null);
  if (route.page === 'activity' && maySeeActs(organization)) return <Activity {...route} />;
  if (!mayManage(organization))
    return (
      <>
        <PageHead title={titles[route.page]} note="What an organization manages itself" />
        <NotAllowed
          what={needs[route.page]}
          scope="manage"
          orScope={route.page === 'activity' ? 'privacy' : undefined}
        />
      </>
    );
  switch (route.page) {
    case 'domains':
      return <AllDomains />;
    case 'new-domain':
      return <NewDomain />;
    case 'activity':
      return <Activity {...route} />;
    case 'settings':
      return <OneDomain domainId={route.domainId} made={made} onMade={setMade} />;
  }
}

const titles = { domains: 'Domains', 'new-domain': 'New domain', activity: 'Activity', settings: 'Settings' };
const needs = {
  domains: 'Managing domains',
  'new-domain': 'Making a domain',
  activity: 'Seeing who did what',
  settings: 'Managing a domain and its keys',
};
