/** What visitors were shown. Every plan includes it. */
import { LRUCache } from 'lru-cache';
import type { Database } from '#libs/base/db/database';
import { readJsonBody } from '#libs/base/http/body';
import { clientAddress, network } from '#libs/base/http/client-address';
import type { Context, Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { createLimiter, type Limiter } from '#libs/base/http/limiter';
import { listOf } from '#libs/base/http/list';
import { Problem, unavailable } from '#libs/base/terms/problem';
import { createPerform } from '#libs/tenants/audited-change';
import { accessIn, organizationIn } from '#libs/tenants/bearer';
import { endpoint } from '#libs/tenants/endpoint';
import { sendsToken } from '#libs/tenants/page-access';
import { workInSlot } from '#libs/tenants/request-slots';
import { requireOwnDomain } from '#libs/tenants/requirements';
import type { SharedSlots } from '#libs/tenants/shared-slots';
import { type Notice, type NoticePut, readNotice } from './contract.ts';
import {
  findNotice,
  putNotice as keepNotice,
  type ListedNotice,
  type PutResult,
  putManagedNotice,
  listNotices as readNotices,
} from './documents.ts';
import { isExpected } from './expected.ts';
import type { KnownNotices } from './known-notices.ts';
import { noticeKeyRoutes, noticeRoutes } from './routes.ts';

/** New notices in a UTC day. Each process counts those of an address, and Postgres those of a domain. */
const newNotices = { perAddress: 20, perDomain: 500 };

/** Refused notices of an address in a minute; a widget does not retry them. */
const refusedNotices = 60;

/**
 * Milliseconds for which a notice refused as `full` stays refused. After that, newly counted records may win it a place.
 */
const askAgainAfter = 10_000;

interface PutParts {
  db: Database;
  notices: KnownNotices;
  slots: Pick<SharedSlots, 'changes'>;
}

/**
 * A domain's key is public, so new notices are limited by address and by domain. Above the domain's limit, a new notice can
 * only replace one of today's with fewer records.
 */
export function putNotice({ db, notices, slots }: PutParts, limits = newNotices): Middleware {
  const refusals = createLimiter({
    name: 'refused-notices',
    limit: refusedNotices,
    detail: `at most ${refusedNotices} refused notices a minute from one address`,
  });
  const put = limitedPut(db, refusals, limits);
  const receive = async (ctx: Context, hash: string) => {
    const address = network(clientAddress(ctx));
    // counted as refused until it proves valid, so that a burst of bad notices is not checked in full
    refusals.admit(ctx, address);
    const notice = checkNotice(hash, await readJsonBody(ctx));
    refusals.takeBack(address);
    return notice;
  };
  return guard(noticeKeyRoutes.putNotice, async (ctx, { params: { domainId, hash } }) => {
    const isManaged = sendsToken(ctx);
    if (isManaged) requireOwnDomain(organizationIn(ctx), domainId);
    const notice = isManaged ? checkNotice(hash, await readJsonBody(ctx)) : await receive(ctx, hash);
    // with a token, a stored notice is put again too: one that came from a page is then kept for good
    const isKnown = notices.isStored(domainId, hash) && !isManaged;
    const keep = () => put(ctx, domainId, notice, isManaged);
    const isNew = !isKnown && (await (isManaged ? workInSlot(slots.changes, ctx, keep) : keep())) === 'new';
    notices.add(domainId, hash);
    ctx.status = isNew ? 201 : 200;
    ctx.body = { notice: hash } satisfies NoticePut;
  });
}

function checkNotice(hash: string, document: Buffer): Notice {
  const notice = readNotice(document);
  const message = 'refused' in notice ? notice.refused : 'must have the SHA-256 that the path names';
  if ('refused' in notice || notice.hash !== hash) {
    throw new Problem('invalid_request', `the document ${message}`, { errors: [{ path: '', message }] });
  }
  return notice;
}

type LimitedPut = (ctx: Context, domainId: string, notice: Notice, isManaged: boolean) => Promise<PutResult>;

function limitedPut(db: Database, refusals: Limiter, { perAddress, perDomain }: typeof newNotices): LimitedPut {
  const detail = (limit: number, of: string) => `at most ${limit} new notices a day ${of}`;
  const ofAddress = createLimiter({
    name: 'new-notices',
    limit: perAddress,
    per: 'day',
    detail: detail(perAddress, 'from one address'),
  });
  const ofDomain = createLimiter({
    name: 'new-notices-of-domain',
    limit: perDomain,
    per: 'day',
    detail: detail(perDomain, 'of one domain'),
  });
  /** notices that Postgres refused as `full`: all visitors of a page may put the same one, so it is not tried each time */
  const withoutRoom = new LRUCache<string, true>({ max: 10_000, ttl: askAgainAfter });
  const refuse = (ctx: Context, domainId: string): never => {
    ofDomain.useUp(domainId);
    ofDomain.check(ctx, domainId);
    throw unavailable('a new day has begun; try again');
  };
  return async (ctx, domainId, notice, isManaged) => {
    if (isManaged) return putManagedNotice(createPerform(db, accessIn(ctx).subject), domainId, notice);
    const address = network(clientAddress(ctx));
    const name = `${domainId} ${notice.hash}`;
    if (withoutRoom.has(name)) return refuse(ctx, domainId);
    // a published banner's notice must not be refused for what others sent
    if (await db.read((sql) => isExpected(sql, domainId, notice.hash)))
      return db.write((sql) => keepNotice(sql, domainId, notice, perDomain));
    ofAddress.admit(ctx, address);
    let put: PutResult | undefined;
    try {
      put = await db.write((sql) => keepNotice(sql, domainId, notice, perDomain));
    } finally {
      if (put !== 'new') ofAddress.takeBack(address);
    }
    if (put !== 'full') return put;
    withoutRoom.set(name, true);
    refusals.count(address);
    return refuse(ctx, domainId);
  };
}

interface Parts {
  db: Database;
}

export const getNotices = endpoint(noticeRoutes.getNotices, async ({ db }: Parts, { organization, params, query }) => {
  const { domainId } = params;
  const { to, notice } = query;
  const list = listOf('notice', query, { cursorKey: organization.cursorKey, domainId, filters: { to, notice } });
  requireOwnDomain(organization, domainId);
  const which = { domainId, to, notice };
  const { page, nextCursor } = await list((range) => db.read((sql) => readNotices(sql, { ...which, ...range })));
  return { body: { notices: page.map(toListed), nextCursor } };
});

const toListed = ({ notice, language, version, variant, model, firstSeenAt, records }: ListedNotice) => ({
  notice,
  language,
  version,
  variant,
  model,
  firstSeenAt: firstSeenAt.toISOString(),
  records,
});

/** The bytes as they were put, as a download that is never rendered. */
export const getNotice = endpoint(noticeRoutes.getNotice, async ({ db }: Parts, { organization, params }) => {
  const { domainId, hash } = params;
  requireOwnDomain(organization, domainId);
  const body = await db.read((sql) => findNotice(sql, domainId, hash));
  if (!body) throw new Problem('notice_not_found', 'the service holds no such notice of this domain');
  const headers = {
    'Content-Disposition': `attachment; filename="notice-${hash.slice(0, 12)}.json"`,
    'Content-Type': 'application/json',
  };
  return { headers, body };
});
