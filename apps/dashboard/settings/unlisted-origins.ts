/** Origins of the newest records that are not in the list of allowed origins. */

import { isListed, isOrigin } from '#libs/base/terms/origin';
import type { FullRecord } from '#libs/record/contract';

interface UnlistedOrigin {
  origin: string;
  records: number;
}

/** the number that is shown */
const most = 10;

/** Ordered by number of records. */
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

/** Null if it cannot be an allowed origin. */
function originOf(pageUrl: string | null): string | null {
  if (pageUrl === null || !URL.canParse(pageUrl)) return null;
  // for an app's scheme, the origin would be `null`
  const { protocol, host } = new URL(pageUrl);
  const origin = `${protocol}//${host}`;
  return isOrigin(origin) ? origin : null;
}
