/** The head of the page of all webhooks. */
import type { ComponentChildren } from 'preact';
import type { Organization } from '#libs/contract/responses';
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
    note="Receivers of yours that are told when visitors decide, when one is erased, and when the monthly limit comes near. Times are UTC."
    tabs={<OrganizationTabs organization={organization} page="webhooks" />}
  >
    {children}
  </PageHead>
);
