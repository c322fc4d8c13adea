/** Stores generated records directly, as the API does while Redis is away. The API refuses such old ones. */
import type { Database } from '#libs/base/db/database';
import { groupBy } from '#libs/base/group-by';
import { timeOf } from '#libs/base/terms/calendar';
import { putNotice } from '#libs/notices/documents';
import type { NewRecord } from '#libs/record/contract';
import { findKnown } from '#libs/record/known-ids';
import { listDroppedMonths } from '#libs/record/month-partitions';
import { persist } from '#libs/record/persist/persist';
import { createDisplayTally } from '#libs/stats/display-buffer';
import { type Displays, storeDisplays } from '#libs/stats/stored-displays';
import type { Administration } from '#libs/tenants/administration';
import { findOrganizations } from '#libs/tenants/tenants';
import { Advice } from '../stack/advice.ts';
import {
  bytesOf,
  type Made,
  noticeOf,
  type Period,
  planDays,
  randomOf,
  recordsOf,
  sites,
  variantOf,
} from './visits.ts';

const batchSize = 5_000;
/** For each visitor who decides, how many ignore the banner. */
const unanswered = 0.6;

interface Target {
  db: Database;
  admin: Administration;
  organizationId: string;
}

export interface Filled {
  added: number;
  /** number of records that already existed */
  present: number;
}

/** After `stop`, begins no further batch. What was stored is counted. */
export async function fill(
  { db, admin, organizationId }: Target,
  period: Period,
  { stop, say }: { stop: AbortSignal; say: (line: string) => void },
): Promise<Filled> {
  const days = planDays(period);
  const since = days[0]?.date.slice(0, 7) ?? '';
  const dropped = (await db.run(listDroppedMonths)).filter((month) => month >= since).at(-1);
  if (dropped) throw new Advice(`The records of ${dropped} are past their retention: choose fewer --months.`);
  const domains = await ensureDomains(db, admin, organizationId);
  const filled = { added: 0, present: 0 };
  let waiting: NewRecord[] = [];
  const shown = new Set<string>();
  for (const [at, day] of days.entries()) {
    if (stop.aborted) break;
    const domainId = domains.get(day.site.name) ?? '';
    const made = recordsOf(day, period);
    await putNotices(db, domainId, made, shown);
    waiting = waiting.concat(made.map((record) => ({ ...record, domainId, notice: noticeOf(record).hash })));
    if (waiting.length < batchSize && at < days.length - 1) continue;
    await storeShown(db, await withoutKnown(db, waiting));
    // a worker updates the counters in Redis
    const { added } = await persist(db, waiting, { owe: true });
    filled.added += added;
    filled.present += waiting.length - added;
    waiting = [];
    say(`until ${day.date}: ${(filled.added + filled.present).toLocaleString('en')} records`);
  }
  return filled;
}

/**
 * Stores the notices that are not in `shown` yet, before the records that name them. A key is a domain's id and the hash.
 */
async function putNotices(db: Database, domainId: string, records: Made[], shown: Set<string>): Promise<void> {
  for (const notice of new Set(records.map(noticeOf))) {
    const name = `${domainId} ${notice.hash}`;
    if (shown.has(name)) continue;
    await db.run((sql) => putNotice(sql, domainId, notice, null));
    shown.add(name);
  }
}

/** Before the records, with an id derived from them: a run that is killed in between neither loses nor repeats a count. */
async function storeShown(db: Database, records: NewRecord[]): Promise<void> {
  if (records.length === 0) return;
  const id = bytesOf('displays', ...records.map((record) => record.id)).toString('hex', 0, 16);
  await storeDisplays(db, { id, rows: displaysOf(records) });
}

async function withoutKnown(db: Database, records: NewRecord[]): Promise<NewRecord[]> {
  const byDomain = [...groupBy(records, ({ domainId }) => domainId)];
  const lists = byDomain.map(async ([domainId, list]) => {
    const ids = list.map(({ id }) => id);
    const known = await db.run((sql) => findKnown(sql, domainId, ids));
    return list.filter(({ id }) => !known.has(id));
  });
  return (await Promise.all(lists)).flat();
}

/** The ids of all sites' domains by name. Missing ones are created. */
async function ensureDomains(db: Database, admin: Administration, organizationId: string) {
  const found = (await db.run((sql) => findOrganizations(sql, [organizationId]))).get(organizationId);
  if (!found) throw new Advice(`There is no organization ${organizationId}.`);
  const ids = new Map([...found.domains.values()].map(({ name, domainId }) => [name, domainId]));
  for (const { name } of sites) {
    if (ids.has(name)) continue;
    ids.set(name, (await admin.createDomain(organizationId, { name, origins: [`https://${name}`] })).domainId);
  }
  return ids;
}

/** How often banners were shown: to each visitor who decided, and to some who did not. */
export function displaysOf(records: readonly NewRecord[]): Displays[] {
  const any = Number.POSITIVE_INFINITY;
  const tally = createDisplayTally({ perDomain: any, perOrganization: any, inAll: any });
  for (const { id, domainId, source, bot, variant, bannerVersion, language } of records) {
    if (source !== 'banner' || bot) continue;
    const time = timeOf(id);
    const on = { domainId, organizationId: '' };
    tally.add(on, time, { bannerVersion, language, variant });
    const random = randomOf('unanswered', id);
    if (random() >= unanswered) continue;
    tally.add(on, time, { bannerVersion, language, variant: variant && variantOf(random()) });
  }
  return tally.take();
}
