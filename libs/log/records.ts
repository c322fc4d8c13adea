/** Records of the log, by page and one by one. */

import type { Database, Reads } from '#libs/base/db/database';
import type { Middleware } from '#libs/base/http/context';
import { makeCursor, readCursor } from '#libs/base/http/cursor';
import { guard } from '#libs/base/http/guard';
import { type BaseMetrics, countFailures } from '#libs/base/ops/metrics';
import { requireRecord } from '#libs/proof/positions';
import { noteBusyVisitor } from '#libs/record/busy-visitors';
import { type Cap, findCap } from '#libs/stats/limit';
import { organizationIn } from '#libs/tenants/bearer';
import type { LogReads } from '#libs/tenants/log-reads';
import { requireConsentLog, requireOwnDomain } from '#libs/tenants/requirements';
import type { NoteVisitorRead } from '#libs/tenants/visitor-reads';
import type { RecordsPage } from './contract.ts';
import { readPage } from './domain-page.ts';
import type { LogPage } from './pages/log-page.ts';
import { logRoutes } from './routes.ts';

const defaultLimit = 50;
const cappedLimit = 10;

interface Parts {
  db: Database;
  readDb: Reads;
  metrics: BaseMetrics;
  noteVisitorRead: NoteVisitorRead;
  logReads: LogReads;
}

/** Subject to the plan's two rules. */
export function getRecords({ db, readDb, metrics, noteVisitorRead, logReads }: Parts): Middleware {
  const countBusyFailure = countFailures(metrics, 'note_busy_visitor');
  return guard(logRoutes.getRecords, async (ctx, { params, query }) => {
    const organization = organizationIn(ctx);
    const { domainId } = params;
    const { organizationId, cursorKey } = organization;
    const { cursor, page: given, limit = defaultLimit, ...filters } = query;
    const binding = { cursorKey, domainId, filters };
    const position = cursor === undefined ? undefined : readCursor(cursor, binding);
    requireOwnDomain(organization, domainId);
    requireConsentLog(organization);
    const cap = await db.read((sql) => findCap(sql, organization, ctx.state.receivedAt));
    if (cap) {
      const size = Math.min(limit, cappedLimit);
      const first = await readDb.read((sql) => readPage(sql, { organizationId, domainId, limit: size, offset: 0 }), {
        snapshot: true,
      });
      logReads.note(ctx, { what: 'records', records: first.records.length, domainId });
      ctx.body = cappedPage(domainId, size, first, cap);
      return;
    }
    const page = given ?? position?.page ?? 1;
    const offset = (page - 1) * limit;
    const wanted = { organizationId, domainId, ...filters, limit, offset, after: position?.after.id };
    const { visitorId } = filters;
    if (visitorId !== undefined) await noteVisitorRead(ctx, domainId, visitorId);
    // the answer does not depend on it, and the next page of this visitor asks again
    const noteBusy = (busy: string) =>
      void db.write((sql) => noteBusyVisitor(sql, { domainId, visitorId: busy })).catch(countBusyFailure);
    const found = await readDb.read((sql) => readPage(sql, wanted, noteBusy), { snapshot: true });
    logReads.note(ctx, { what: 'records', records: found.records.length, domainId });
    const last = found.records.at(-1);
    const answer: RecordsPage = {
      domainId,
      page,
      limit,
      total: found.total,
      totalPages: Math.ceil(found.total / limit),
      capped: false,
      nextCursor: found.more && last ? makeCursor({ after: last, page: page + 1 }, binding) : null,
      records: found.records,
    };
    ctx.body = answer;
  });
}

/** The first short page, whatever was asked for: pages, cursors and filters could otherwise get around the limit. */
function cappedPage(domainId: string, limit: number, first: LogPage, cap: Cap): RecordsPage {
  return {
    domainId,
    page: 1,
    limit,
    total: first.total,
    totalPages: 1,
    capped: true,
    cap: { reason: 'monthly_record_limit', ...cap },
    nextCursor: null,
    records: first.records,
  };
}

export function getRecord({ readDb, logReads }: Pick<Parts, 'readDb' | 'logReads'>): Middleware {
  return guard(logRoutes.getRecord, async (ctx, { params, query }) => {
    const organization = organizationIn(ctx);
    requireOwnDomain(organization, params.domainId);
    requireConsentLog(organization);
    const { record } = await readDb.read((sql) => requireRecord(sql, { ...params, ...query }));
    logReads.note(ctx, { what: 'record', records: 1, domainId: params.domainId });
    ctx.body = record;
  });
}
