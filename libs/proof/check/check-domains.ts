/**
 * Checks the sealed logs: recomputes every entry from the stored records, every hash and every root, and searches for
 * records that are in no log. A log is compared up to its size at the first read, while sealing continues.
 */

import type { Database } from '#libs/base/db/database';
import type { RedisConnection } from '#libs/base/redis/connection';
import { recall, type Witnessed } from '../witness.ts';
import { checkLog } from './check-log.ts';
import { type Expiry, readExpiry } from './expiry.ts';
import { listStoredDomains, type StoredDomain } from './stored.ts';
import { countSealed, listWithoutPosition } from './without-position.ts';

export interface Difference {
  domainId: string;
  log: number;
  /** null if it concerns the whole log */
  position: number | null;
  what: string;
}

interface Checked {
  /** entries */
  checked: number;
  differences: Difference[];
}

interface CheckParts {
  db: Database;
  /** undefined if it is unreachable: then the comparison with Redis is skipped */
  redis: RedisConnection | undefined;
  /** only this domain */
  domainId?: string | undefined;
  /** called with the number of checked entries */
  progress?(checked: number): void;
}

/** domains per statement */
const pageSize = 200;
/** Differences reported per log; further ones are only counted. */
const mostReported = 1_000;

export async function checkLogs({ db, redis, domainId, progress = () => {} }: CheckParts): Promise<Checked> {
  const result: Checked = { checked: 0, differences: [] };
  const count = (entries: number) => {
    result.checked += entries;
    progress(result.checked);
  };
  let after = 0;
  for (;;) {
    const only = domainId;
    const ids = await db.read((sql) => listStoredDomains(sql, { after, limit: pageSize, only }));
    // Redis is read first: logs read later have at least the size that Redis knows
    const witnessed = redis
      ? await recall(
          redis.client,
          ids.map((domain) => domain.domainId),
        )
      : [];
    const domains = await db.read((sql) => listStoredDomains(sql, { after, limit: ids.length, only }));
    const expiry = await readExpiry(db);
    for (const domain of domains) {
      const of = witnessed[ids.findIndex(({ domainNumber }) => domainNumber === domain.domainNumber)];
      result.differences.push(...(await checkDomain(db, domain, of, expiry, count)));
    }
    after = domains.at(-1)?.domainNumber ?? after;
    if (ids.length < pageSize) return result;
  }
}

async function checkDomain(
  db: Database,
  domain: StoredDomain,
  witnessed: Witnessed | undefined,
  expiry: Expiry,
  progress: (entries: number) => void,
): Promise<Difference[]> {
  const { domainId, domainNumber, logs } = domain;
  const differences: Difference[] = [];
  let present = 0;
  for (const stored of logs) {
    const reports = limited((position, what) => differences.push({ domainId, log: stored.log, position, what }));
    // entries that a restart gave up stay missing from the old log; Redis forgets them with the next checkpoint
    const isGivenUp = stored !== logs.at(-1) && (witnessed?.size ?? 0) > stored.size;
    const remembered = witnessed?.log === stored.log && !isGivenUp ? witnessed : undefined;
    const { differs } = reports;
    present += await checkLog({ db, domainNumber, stored, witnessed: remembered, expiry, differs, progress });
    reports.end();
  }
  const newest = logs.at(-1);
  const log = newest?.log ?? 1;
  const reports = limited((position, what) => differences.push({ domainId, log, position, what }));
  if (witnessed && witnessed.log > (newest?.log ?? 0)) {
    reports.differs(null, `Redis remembers log ${witnessed.log} of the domain, which is not stored`);
  }
  await findWithoutPosition(db, domain, present, expiry, reports.differs);
  return differences;
}

/** Lists missing records only if a count shows that there are some. */
async function findWithoutPosition(
  db: Database,
  { domainNumber, sealedThrough, logs }: StoredDomain,
  present: number,
  { since }: Expiry,
  differs: (position: null, what: string) => void,
): Promise<void> {
  const newest = logs.at(-1);
  const { lastEpoch = 0, lastId = since } = newest ?? {};
  const sealed = { domainNumber, sealedThrough, lastEpoch, lastId, since };
  const stored = await countSealed(db, sealed);
  if (stored === present) return;
  // retention has dropped a month since the entries were read
  if ((await readExpiry(db)).since !== since) return;
  const lacking = await listWithoutPosition(db, sealed, mostReported);
  for (const id of lacking) differs(null, `record ${id} is stored, but is not in the log`);
  if (lacking.length === 0 && present > stored) {
    differs(null, `${present} entries are of only ${stored} records: some are in the log twice`);
  }
}

/** Collects the first differences, and counts the others. */
function limited(add: (position: number | null, what: string) => void) {
  let more = 0;
  let reported = 0;
  return {
    differs: (position: number | null, what: string) => {
      reported += 1;
      if (reported <= mostReported) add(position, what);
      else more += 1;
    },
    end: () => {
      if (more > 0) add(null, `${more} more differences`);
    },
  };
}
