/** The dashboard's home page: 30 days of counters and the raw records of the last 7. */
import type { Database, Reads, Sql } from '#libs/base/db/database';
import { makeCursor, readCursor } from '#libs/base/http/cursor';
import { hashedTag } from '#libs/base/http/etag';
import { addDays, dayOf, daysBetween } from '#libs/base/terms/calendar';
import { sumOf, totalOf, wholeOrganization, withTotal } from '#libs/base/terms/terms';
import type { FullRecord } from '#libs/record/contract';
import type { CounterReader } from '#libs/stats/counter-reader';
import { findCap } from '#libs/stats/monthly-limit';
import { endpoint } from '#libs/tenants/endpoint';
import type { ShortRecord } from './contract.ts';
import { readOrganizationPage, readOrganizationVersion } from './pages/organization-page.ts';
import { logRoutes } from './routes.ts';

const statsDays = 30;
const recordsDays = 7;
const defaultLimit = 500;

interface Parts {
  counters: CounterReader;
  db: Database;
  readDb: Reads;
}

export const getOrganizationStats = endpoint(
  logRoutes.getOrganizationStats,
  async ({ counters, db, readDb }: Parts, { organization, query, now, ifNoneMatch }) => {
    const { organizationId, cursorKey, plan } = organization;
    const today = dayOf(now);
    const limit = query.limit ?? defaultLimit;
    const binding = { cursorKey, domainId: wholeOrganization };
    const position = query.cursor === undefined ? undefined : readCursor(query.cursor, binding);
    const period = { from: addDays(today, 1 - statsDays), to: today };
    const recordsPeriod = { from: addDays(today, 1 - recordsDays), to: today };

    const [{ source, counts }, cap] = await Promise.all([
      counters.read({ organizationId, domainId: wholeOrganization, spans: [period] }),
      db.read((sql) => findCap(sql, organization, now)),
    ]);
    const daily = daysBetween(period.from, period.to).map((date) => ({ date, ...withTotal(counts.get(date)) }));
    const headersWith = (version: string) => ({
      'X-Stats-Source': source,
      ETag: hashedTag([organizationId, query, plan, daily, cap !== null, version]),
    });
    const readVersion = (sql: Sql) => readOrganizationVersion(sql, organizationId);
    // if no total and no record has changed, no record is read
    const unmoved = ifNoneMatch && headersWith(await readDb.read(readVersion));
    if (unmoved && ifNoneMatch(unmoved.ETag)) return { status: 304, headers: unmoved, body: null };
    const { version, page } = await readDb.read(async (sql) => ({
      version: await readVersion(sql),
      page: await readOrganizationPage(sql, { organizationId, ...recordsPeriod, limit, after: position?.after }),
    }));
    const breakdown = sumOf(counts.values());
    const last = page.records.at(-1);
    const nextPage = (position?.page ?? 1) + 1;
    const isFull = plan.consentLog && !cap;
    // a replica may lack records that the counters count; without an `ETag`, the next request gets them
    const counted = daily.slice(-recordsDays).reduce((sum, { total }) => sum + total, 0);
    return {
      headers: page.total >= counted ? headersWith(version) : { 'X-Stats-Source': source },
      body: {
        organizationId,
        period,
        total: totalOf(breakdown),
        breakdown,
        daily,
        recordsPeriod,
        recordsTotal: page.total,
        records: isFull ? page.records : page.records.map(shorten),
        nextCursor: page.more && last ? makeCursor({ after: last, page: nextPage }, binding) : null,
      },
      ...(isFull && { read: { what: 'org-stats', records: page.records.length } }),
    };
  },
);

/** The fields that every plan includes. */
const shorten = ({ id, domainId, decision, decidedAt }: FullRecord): ShortRecord => ({
  id,
  domainId,
  decision,
  decidedAt,
});
