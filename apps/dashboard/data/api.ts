/** The endpoints that the dashboard calls, grouped by the room that serves them. */

import type { statsRoutes } from '#libs/stats/routes';
import { type Asked, bodyOf, domainPath } from './calls.ts';
import { createLogApi } from './log-api.ts';
import { createManageApi } from './manage-api.ts';
import { createPrivacyApi } from './privacy-api.ts';
import { createProofApi } from './proof-api.ts';
import { createRequests } from './requests.ts';

type DomainQuery = Asked<(typeof statsRoutes)['getDomainStats']>;
type OrganizationQuery = Asked<(typeof statsRoutes)['getStats']>;

export type Api = ReturnType<typeof createApi>;

export function createApi(...given: Parameters<typeof createRequests>) {
  const requests = createRequests(...given);
  const { call } = requests;
  return {
    /** for endpoints that only one page calls */
    call,
    organization: (signal?: AbortSignal) => call('get /v1/organization', { signal }).then(bodyOf),
    stats: (domainId: string, query: DomainQuery, signal?: AbortSignal) =>
      call(`get ${domainPath}/stats`, { params: { domainId }, query, signal }).then(bodyOf),
    /** Over all domains. */
    organizationStats: (query: OrganizationQuery, signal?: AbortSignal) =>
      call('get /v1/organization/stats', { query, signal }).then(bodyOf),
    ...createLogApi(requests),
    ...createProofApi(requests),
    ...createPrivacyApi(requests),
    manage: createManageApi(call),
  };
}
