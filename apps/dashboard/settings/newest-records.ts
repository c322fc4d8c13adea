/** The newest records of a domain, for what is told of them. */

import type { FullRecord } from '#libs/record/contract';
import type { Organization } from '#libs/stats/contract';
import type { Key } from '#libs/tenants/contract';
import type { Api } from '../data/api.ts';
import { useReading } from '../data/query.ts';
import { mayReadLogs } from '../data/scopes.ts';

/** The most that a page takes. */
const newest = 200;

/** None where no key has recorded yet, and where the plan or the token does not allow it. */
export function useNewestRecords(api: Api, organization: Organization, domainId: string, keys: Key[]): FullRecord[] {
  const isAsked = mayReadLogs(organization) && keys.some(({ lastUsedAt }) => lastUsedAt !== null);
  const reading = useReading(`${domainId} ${isAsked}`, async (signal) =>
    isAsked ? (await api.records(domainId, { limit: newest }, signal)).records : [],
  );
  return reading.value ?? [];
}
