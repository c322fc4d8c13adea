/** Summaries of the events and domains that a webhook covers. */

import type { Organization } from '#libs/stats/contract';
import type { Webhook } from '#libs/webhooks/contract';
import { decisionNames } from '../data/decisions.ts';
import { count, escapeInvisible } from '../format.ts';
import { hasEntries } from './webhook-draft.ts';
import { messageNames } from './webhook-facts.ts';

/** With more domains, their number is shown. */
const named = 3;

export const typesText = ({ types }: Webhook): string => types.map((type) => messageNames[type]).join(', ');

export const nameOfDomain = ({ domains }: Organization, domainId: string): string =>
  escapeInvisible(domains.find((each) => each.domainId === domainId)?.name ?? domainId);

export function domainsText({ domains }: Webhook, organization: Organization): string {
  if (domains === null) return 'All domains';
  if (domains.length > named) return `${count(domains.length)} domains`;
  return domains.map((domainId) => nameOfDomain(organization, domainId)).join(', ');
}

/** Null if the webhook gets no entries. */
export function decisionsText(webhook: Webhook): string | null {
  if (!hasEntries(webhook)) return null;
  return webhook.decisions?.map((each) => decisionNames[each]).join(', ') ?? 'All decisions';
}
