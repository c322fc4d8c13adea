/** Where the newest records come from, as far as the list of origins does not say so. */

import type { Key } from '#libs/contract/manage';
import { isListed, isOrigin } from '#libs/contract/origin';
import type { FullRecord } from '#libs/contract/record';
import type { Organization } from '#libs/contract/statistics';
import type { Api } from './api.ts';
import { useReading } from './reading.ts';
import { mayReadLogs } from './scopes.ts';

export interface UnlistedOrigin {
  origin: string;
  records: number;
}

/** So many are shown. */
const most = 10;

/** Those with the most records first. */
export function unlistedOrigins(records: Pick<FullRecord, 'pageUrl'>[], listed: readonly string[]): UnlistedOrigin[] {
  const counts = new Map<string, number>();
  for (const { pageUrl } of records) {
    const origin = originOf(pageUrl);
    if (origin !== null && !isListed(listed, origin)) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  }
  return [...counts]
    .map(([origin, count]) => ({ origin, records: count }))
    .sort((one, other) => other.records - one.records || (one.origin < other.origin ? -1 : 1))
    .slice(0, most);
}

/** Null where it is none that could be on a list. */
function originOf(pageUrl: string | null): string | null {
  if (pageUrl === null || !URL.canParse(pageUrl)) return null;
  const { origin } = new URL(pageUrl);
  return isOrigin(origin) ? origin : null;
}

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
