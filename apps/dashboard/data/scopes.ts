/** What the access token may do. The service decides; this only spares visitors what would be refused. */
import { type PageName, pageOf } from '#libs/base/terms/dashboard-pages';
import type { Organization } from '#libs/stats/contract';

/** Statistics, and the log where the plan has it. */
export const mayRead = ({ scopes }: Organization): boolean => scopes.includes('read');

/** One visitor's records and their erasure. */
export const mayReadVisitors = ({ scopes }: Organization): boolean => scopes.includes('privacy');

/** Domains, keys and webhooks. */
export const mayManage = ({ scopes }: Organization): boolean => scopes.includes('manage');

/** Banners. Whoever manages domains may, too. */
export const mayPublish = (organization: Organization): boolean =>
  mayManage(organization) || organization.scopes.includes('publish');

/** Who did what. */
export const maySeeActs = (organization: Organization): boolean =>
  mayManage(organization) || mayReadVisitors(organization);

/** Entries of logs: what webhooks with `records.sealed` send. */
export const mayReadLogs = (organization: Organization): boolean =>
  mayRead(organization) && organization.plan.consentLog;

/** The page at all, whatever of it. */
export function maySee(page: PageName, { scopes }: Organization): boolean {
  const { scopes: needed } = pageOf(page);
  return !needed || needed.some((scope) => scopes.includes(scope));
}
