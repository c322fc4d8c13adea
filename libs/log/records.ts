/** Records of the log, by page and one by one. */

import type { Database, Reads } from '#libs/base/db/database';
import { makeCursor, readCursor } from '#libs/base/http/cursor';
import { requireRecord } from '#libs/proof/positions';
import type { NoteBusy } from '#libs/record/busy-visitors';
import { type Cap, findCap } from '#libs/stats/limit';
import { endpoint } from '#libs/tenants/endpoint';
import type { LogRead } from '#libs/tenants/log-reads';
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
  noteBusy: NoteBusy;
  noteVisitorRead: NoteVisitorRead;
}

/** Subject to the plan's two rules. */
export const getRecords = endpoint(
  logRoutes.getRecords,
  async ({ db, readDb, noteBusy, noteVisitorRead }: Parts, { organization, access, params, query, now }) => {
    const { domainId } = params;
    const { organizationId, cursorKey } = organization;
    const { cursor, page: given, limit = defaultLimit, ...filters } = query;
    const binding = { cursorKey, domainId, filters };
    const position = cursor === undefined ? undefined : readCursor(cursor, binding);
    requireOwnDomain(organization, domainId);
    requireConsentLog(organization);
    const cap = await db.read((sql) => findCap(sql, organization, now));
    if (cap) {
      const size = Math.min(limit, cappedLimit);
      const first = await readDb.read((sql) => readPage(sql, { organizationId, domainId, limit: size, offset: 0 }), {
        snapshot: true,
      });
      return { body: cappedPage(domainId, size, first, cap), read: readOf(domainId, first) };
    }
    const page = given ?? position?.page ?? 1;
    const offset = (page - 1) * limit;
    const wanted = { organizationId, domainId, ...filters, limit, offset, after: position?.after.id };
    const { visitorId } = filters;
    if (visitorId !== undefined) await noteVisitorRead(access, domainId, visitorId);
    const found = await readDb.read((sql) => readPage(sql, wanted, (busy) => noteBusy(domainId, busy)), {
      snapshot: true,
    });
    const last = found.records.at(-1);
    return {
      body: {
        domainId,
        page,
        limit,
        total: found.total,
        totalPages: Math.ceil(found.total / limit),
        capped: false,
        nextCursor: found.more && last ? makeCursor({ after: last, page: page + 1 }, binding) : null,
        records: found.records,
      },
      read: readOf(domainId, found),
    };
  },
);

const readOf = (domainId: string, { records }: LogPage): LogRead => ({
  what: 'records',
  records: records.length,
  domainId,
});

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

export const getRecord = endpoint(
  logRoutes.getRecord,
  async ({ readDb }: Pick<Parts, 'readDb'>, { organization, params, query }) => {
    const { domainId } = params;
    requireOwnDomain(organization, domainId);
    requireConsentLog(organization);
    const { record } = await readDb.read((sql) => requireRecord(sql, { ...params, ...query }));
    return { body: record, read: { what: 'record', records: 1, domainId } };
  },
);
