/** The most informative page of a domain that the access token may see. */
import type { Organization } from '#libs/stats/contract';
import { domainAddress, settingsAddress, visitorAddress, widgetAddress } from './router.ts';
import { mayManage, mayRead, mayReadVisitors } from './scopes.ts';

export function firstPageOf(domainId: string, organization: Organization): string {
  if (mayRead(organization)) return domainAddress(domainId);
  if (mayReadVisitors(organization)) return visitorAddress(domainId);
  return mayManage(organization) ? settingsAddress(domainId) : widgetAddress(domainId);
}
