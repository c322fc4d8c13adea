/** Records of the log: pages, and single ones. */

import type { Database, Reads } from '#libs/base/db/database';
import { makeCursor, readCursor } from '#libs/base/http/cursor';
import { requireRecord } from '#libs/proof/positions';
import type { NoteBusy } from '#libs/record/busy-visitors';
import { type Cap, findCap } from '#libs/stats/monthly-limit';
import { endpoint } from '#libs/tenants/endpoint';
import type { Reply } from '#libs/tenants/reply';
import { requireConsentLog, requireOwnDomain } from '#libs/tenants/requirements';
import type { NoteVisitorRead } from '#libs/tenants/visitor-lookups';
import type { RecordsPage } from './contract.ts';
import { readPage } from './domain-page.ts';
import { logRoutes } from './routes.ts';

const defaultLimit = 50;
const cappedLimit = 10;

interface Parts {
  db: Database;
  readDb: Reads;
  noteBusy: NoteBusy;
  noteVisitorRead: NoteVisitorRead;
}

/** Needs a plan that includes the log. Once the monthly limit is reached, only a short first page is shown. */
export const getRecords = endpoint(logRoutes.getRecords, async ({ db, readDb, ...parts }: Parts, asked) => {
  const { organization, access, params } = asked;
  const { cursor, page: given, limit = defaultLimit, ...filters } = asked.query;
  const binding = { cursorKey: organization.cursorKey, ...params, filters };
  const position = cursor === undefined ? undefined : readCursor(cursor, binding);
  requireOwnDomain(organization, params.domainId);
  requireConsentLog(organization);
  const owner = { organizationId: organization.organizationId, ...params };
  const cap = await db.read((sql) => findCap(sql, organization, asked.now));
  if (cap) return readCapped(readDb, owner, Math.min(limit, cappedLimit), cap);
  const page = given ?? position?.page ?? 1;
  const wanted = { ...owner, ...filters, limit, offset: (page - 1) * limit, after: position?.after.id };
  const { visitorId } = filters;
  if (visitorId !== undefined) await parts.noteVisitorRead(access, params.domainId, visitorId);
  const noteBusy = (busy: string) => parts.noteBusy(params.domainId, busy);
  const { total, more, records } = await readDb.read((sql) => readPage(sql, wanted, noteBusy), { snapshot: true });
  const last = records.at(-1);
  const nextCursor = more && last ? makeCursor({ after: last, page: page + 1 }, binding) : null;
  return {
    body: { ...params, page, limit, total, totalPages: Math.ceil(total / limit), capped: false, nextCursor, records },
    read: { what: 'records', records: records.length, ...params },
  };
});

/** Always the first page, and a short one: pages, cursors and filters could otherwise get around the limit. */
async function readCapped(
  readDb: Reads,
  owner: { organizationId: string; domainId: string },
  limit: number,
  cap: Cap,
): Promise<Reply<RecordsPage>> {
  const { total, records } = await readDb.read((sql) => readPage(sql, { ...owner, limit, offset: 0 }), {
    snapshot: true,
  });
  const { domainId } = owner;
  return {
    body: {
      domainId,
      page: 1,
      limit,
      total,
      totalPages: 1,
      capped: true,
      cap: { reason: 'monthly_record_limit', ...cap },
      nextCursor: null,
      records,
    },
    read: { what: 'records', records: records.length, domainId },
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
