/** The head of the page of all webhooks. */
import type { ComponentChildren } from 'preact';
import type { Organization } from '#libs/contract/statistics';
import { OrganizationTabs } from '../../parts/organization-tabs.tsx';
import { PageHead } from '../../parts/page-head.tsx';

export const WebhooksHead = ({
  organization,
  children,
}: {
  organization: Organization;
  children?: ComponentChildren;
}) => (
  <PageHead
    title="Webhooks"
    note="Signed messages to your own systems about new entries, erasures and limits. Times are UTC."
    tabs={<OrganizationTabs organization={organization} page="webhooks" />}
  >
    {children}
  </PageHead>
);
