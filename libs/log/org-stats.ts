/** The dashboard's home page: 30 days of counters and the raw records of the last 7. */
import { hash } from 'node:crypto';
import type { Database, Reads, Sql } from '#libs/base/db/database';
import type { Middleware } from '#libs/base/http/context';
import { makeCursor, readCursor } from '#libs/base/http/cursor';
import { hasTag } from '#libs/base/http/etag';
import { guard } from '#libs/base/http/guard';
import { addDays, dayOf, daysBetween } from '#libs/base/terms/calendar';
import { sumOf, totalOf, wholeOrganization, withTotal } from '#libs/base/terms/terms';
import type { FullRecord } from '#libs/record/contract';
import type { CounterReader } from '#libs/stats/counter-reader';
import { findCap } from '#libs/stats/limit';
import { organizationIn } from '#libs/tenants/bearer';
import type { LogReads } from '#libs/tenants/log-reads';
import type { OrgStats, ShortRecord } from './contract.ts';
import { readOrganizationPage, readOrganizationVersion } from './pages/organization-page.ts';
import { logRoutes } from './routes.ts';

const statsDays = 30;
const recordsDays = 7;
const defaultLimit = 500;

export function getOrganizationStats({
  counters,
  db,
  readDb,
  logReads,
}: {
  counters: CounterReader;
  db: Database;
  readDb: Reads;
  logReads: LogReads;
}): Middleware {
  return guard(logRoutes.getOrganizationStats, async (ctx, { query }) => {
    const organization = organizationIn(ctx);
    const { organizationId, cursorKey, plan } = organization;
    const now = ctx.state.receivedAt;
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
    const tagWith = (version: string) => tagOf([organizationId, query, plan, daily, cap !== null, version]);
    const readVersion = (sql: Sql) => readOrganizationVersion(sql, organizationId);
    ctx.set('X-Stats-Source', source);
    if (ctx.get('if-none-match') !== '') {
      const tag = tagWith(await readDb.read(readVersion));
      ctx.set('ETag', tag);
      if (hasTag(ctx, tag)) {
        ctx.status = 304;
        return;
      }
    }
    const { version, page } = await readDb.read(async (sql) => ({
      version: await readVersion(sql),
      page: await readOrganizationPage(sql, { organizationId, ...recordsPeriod, limit, after: position?.after }),
    }));
    const breakdown = sumOf(counts.values());
    const last = page.records.at(-1);
    const nextPage = (position?.page ?? 1) + 1;
    const isFull = plan.consentLog && !cap;
    if (isFull) logReads.note(ctx, { what: 'org-stats', records: page.records.length });
    const stats: OrgStats = {
      organizationId,
      period,
      total: totalOf(breakdown),
      breakdown,
      daily,
      recordsPeriod,
      recordsTotal: page.total,
      records: isFull ? page.records : page.records.map(shorten),
      nextCursor: page.more && last ? makeCursor({ after: last, page: nextPage }, binding) : null,
    };
    // a replica may not have all records that the counters count; then the next question is answered in full
    const counted = daily.slice(-recordsDays).reduce((sum, { total }) => sum + total, 0);
    if (page.total >= counted) ctx.set('ETag', tagWith(version));
    ctx.body = stats;
  });
}

/** The same for as long as neither a total nor a record moves: then the answer is what it was, and no record is read. */
const tagOf = (seen: unknown[]): string => `"${hash('sha256', JSON.stringify(seen), 'base64url').slice(0, 22)}"`;

/** What every plan may see; the plan gates the full record. */
const shorten = ({ id, domainId, decision, decidedAt }: FullRecord): ShortRecord => ({
  id,
  domainId,
  decision,
  decidedAt,
});
