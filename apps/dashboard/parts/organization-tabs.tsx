/** The pages of the organization. With the overview alone there is nothing to choose from. */
import type { Organization } from '#libs/contract/statistics';
import { activityAddress, domainsAddress, homeAddress, webhooksAddress } from '../data/router.ts';
import { mayManage } from '../data/scopes.ts';
import { Tabs } from './tabs.tsx';

interface Props {
  organization: Organization;
  page: 'home' | 'domains' | 'webhooks' | 'activity';
}

export function OrganizationTabs({ organization, page }: Props) {
  if (!mayManage(organization)) return null;
  return (
    <Tabs
      label="Pages of the organization"
      tabs={[
        { name: 'Overview', address: homeAddress, isCurrent: page === 'home' },
        { name: 'Domains', address: domainsAddress, isCurrent: page === 'domains' },
        { name: 'Webhooks', address: webhooksAddress, isCurrent: page === 'webhooks' },
        { name: 'Activity', address: activityAddress, isCurrent: page === 'activity' },
      ]}
    />
  );
}
