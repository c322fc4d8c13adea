/** The access token's rights. The service enforces them; the dashboard only hides what would be rejected. */
import { type PageName, pageOf } from '#libs/base/terms/dashboard-pages';
import type { Organization } from '#libs/stats/contract';

/** Statistics, and the log where the plan has it. */
export const mayRead = ({ scopes }: Organization): boolean => scopes.includes('read');

/** Reading and erasing one visitor's records. */
export const mayReadVisitors = ({ scopes }: Organization): boolean => scopes.includes('privacy');

/** Domains, keys and webhooks. */
export const mayManage = ({ scopes }: Organization): boolean => scopes.includes('manage');

/** Banners, also with the right to manage domains. */
export const mayPublish = (organization: Organization): boolean =>
  mayManage(organization) || organization.scopes.includes('publish');

/** The acts of the organization. */
export const maySeeActs = (organization: Organization): boolean =>
  mayManage(organization) || mayReadVisitors(organization);

/** Log entries, which webhooks with `records.sealed` send. */
export const mayReadLogs = (organization: Organization): boolean =>
  mayRead(organization) && organization.plan.consentLog;

/** Whether the page can be opened at all. */
export function maySee(page: PageName, { scopes }: Organization): boolean {
  const { scopes: needed } = pageOf(page);
  return !needed || needed.some((scope) => scopes.includes(scope));
}
