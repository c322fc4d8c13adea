/** The newest records of a domain. */

import type { FullRecord } from '#libs/record/contract';
import type { Organization } from '#libs/stats/contract';
import type { Key } from '#libs/tenants/contract';
import type { Api } from '../data/api.ts';
import { useReading } from '../data/query.ts';
import { mayReadLogs } from '../data/scopes.ts';

/** the largest page size */
const newest = 200;

/** Empty if no key has recorded yet, or the plan or the token does not allow reading them. */
export function useNewestRecords(api: Api, organization: Organization, domainId: string, keys: Key[]): FullRecord[] {
  const isAsked = mayReadLogs(organization) && keys.some(({ lastUsedAt }) => lastUsedAt !== null);
  const reading = useReading(`${domainId} ${isAsked}`, async (signal) =>
    isAsked ? (await api.records(domainId, { limit: newest }, signal)).records : [],
  );
  return reading.value ?? [];
}
