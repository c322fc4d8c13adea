/** Access to what is stored about a visitor, and erasure. */
import type { Database } from '#libs/base/db/database';
import { isUnavailable } from '#libs/base/db/errors';
import { inSlots, retryingReads } from '#libs/base/db/long-reads';
import type { Middleware } from '#libs/base/http/context';
import { listOf } from '#libs/base/http/list';
import { holdUntilRead, keepingOpen, toStream } from '#libs/base/http/stream';
import type { UnreadResponses } from '#libs/base/http/unread-responses';
import type { Log } from '#libs/base/ops/process-log';
import type { RedisConnection } from '#libs/base/redis/connection';
import { Problem, unavailable } from '#libs/base/terms/problem';
import { within } from '#libs/base/timers';
import { accessIn } from '#libs/tenants/bearer';
import { endpoint } from '#libs/tenants/endpoint';
import { pageOfActs } from '#libs/tenants/handlers';
import { endOf, type SharedSlots } from '#libs/tenants/shared-slots';
import { addVisitorAct } from '#libs/tenants/visitors';
import type { Erasure } from './contract.ts';
import { listErasureResults } from './erasure-results.ts';
import {
  eraseVisitor,
  type Erasure as Found,
  findErasure,
  makeErasureId,
  listErasures as readErasures,
} from './erasures.ts';
import { forVisitor, requireVisitorHash, type Visitor, type VisitorRoute } from './requested-visitor.ts';
import { privacyRoutes } from './routes.ts';
import { rememberTombstones } from './tombstones-in-redis.ts';
import { allAbout } from './visitor-document.ts';
import { listVisitorDomains } from './visitor-records.ts';

interface Parts {
  db: Database;
}

interface Keyed extends Parts {
  config: { privacyKey: Buffer | undefined };
}

const showVisitor =
  (row: VisitorRoute) =>
  (parts: Keyed & { log: Log; slots: SharedSlots; unreadResponses: UnreadResponses }): Middleware =>
    forVisitor(row, parts, async (ctx, visitor) => {
      const { log, slots, unreadResponses } = parts;
      const { organizationId } = visitor;
      const end = endOf(ctx);
      const leave = await slots.open.visitors.take(organizationId, end).catch(() => undefined);
      // the deadline has passed, or the client has left
      if (!leave || end.aborted) return leave?.();
      ctx.res.once('close', leave);
      const db = inSlots(parts.db, slots.reads, organizationId);
      const actor = accessIn(ctx).subject;
      await parts.db.write((sql) => addVisitorAct(sql, { ...visitor, actor, act: 'visitor.access' }));
      const domains = await listVisitorDomains(db, visitor, visitor.visitorId);
      ctx.type = 'application/json';
      const pages = retryingReads(inSlots(parts.db, slots.reads, organizationId, end));
      const texts = allAbout(pages, visitor.visitorId, domains, (differing) =>
        log.error({ event: 'entry_differs', ...differing }, 'a record is not what was sealed'),
      );
      const hold = (size: number) => unreadResponses.track(organizationId, size, () => ctx.res.destroy());
      ctx.body = toStream(holdUntilRead(keepingOpen(ctx, texts), hold));
    });

/** Milliseconds for Redis. */
const patience = 500;
/** Milliseconds after the request's arrival, after which the worker erases the rest. */
const atOnce = 3_000;

const erase =
  (row: VisitorRoute) =>
  ({ config, db, redis, slots }: Keyed & { redis: RedisConnection; slots: Pick<SharedSlots, 'changes'> }): Middleware =>
    forVisitor(row, { config }, async (ctx, visitor) => {
      const { subject: actor } = accessIn(ctx);
      const erasureId = makeErasureId();
      const found = await eraseVisitor(
        db,
        { ...visitor, actor, erasureId },
        {
          patience: Math.max(0, Math.round(ctx.state.arrivedAt + atOnce - performance.now())),
          inSlot: (work, signal) => slots.changes.run(visitor.organizationId, work, signal),
        },
      ).catch((cause: unknown) => {
        if (!isUnavailable(cause)) throw cause;
        throw unavailable('the database is not available; the erasure may have begun', { erasureId, cause });
      });
      await remember(redis, visitor);
      ctx.status = found.erasedAt ? 200 : 202;
      ctx.body = toBody(found, visitor.visitorId);
    });

export const visitorHandlers = {
  getDomainVisitor: showVisitor(privacyRoutes.getDomainVisitor),
  lookupDomainVisitor: showVisitor(privacyRoutes.lookupDomainVisitor),
  deleteDomainVisitor: erase(privacyRoutes.deleteDomainVisitor),
  eraseDomainVisitor: erase(privacyRoutes.eraseDomainVisitor),
  getOrganizationVisitor: showVisitor(privacyRoutes.getOrganizationVisitor),
  lookupOrganizationVisitor: showVisitor(privacyRoutes.lookupOrganizationVisitor),
  deleteOrganizationVisitor: erase(privacyRoutes.deleteOrganizationVisitor),
  eraseOrganizationVisitor: erase(privacyRoutes.eraseOrganizationVisitor),
};

export const getErasures = endpoint(privacyRoutes.getErasures, async ({ db }: Parts, { organization, query }) => {
  const { organizationId, cursorKey } = organization;
  const list = listOf('erasure', query, { cursorKey, domainId: '' });
  const { page, nextCursor } = await list((range) => db.read((sql) => readErasures(sql, { organizationId, ...range })));
  return { body: { erasures: page.map((each) => toBody(each, each.visitorId)), nextCursor } };
});

/** The progress of an erasure, and what it did in which domain. */
export const getErasure = endpoint(privacyRoutes.getErasure, async ({ db }: Parts, { organization, params }) => {
  const found = await db.read((sql) => findErasure(sql, organization.organizationId, params.erasureId));
  if (!found) throw new Problem('erasure_not_found', 'your organization has no such erasure');
  const domains = await db.read((sql) => listErasureResults(sql, found));
  return { body: { ...toBody(found, found.visitorId), domains } };
});

/**
 * Stores the tombstone in Redis, because a replica that Postgres fails over to may lack it. If Redis is down, a worker
 * adds it later.
 */
async function remember(redis: RedisConnection, { organizationId, domainId, hash }: Visitor): Promise<void> {
  const tombstone = {
    organizationId,
    domainId: domainId ?? null,
    hash: hash.toString('hex'),
    erasedAt: new Date().toISOString(),
  };
  await within(patience, rememberTombstones(redis.client, [tombstone])).catch(() => {});
}

const toBody = ({ erasureId, records, erasedAt, requestedAt, actor }: Found, visitorId: string | null): Erasure => ({
  erasureId,
  visitorId,
  state: erasedAt ? 'done' : 'running',
  records,
  erasedAt: erasedAt?.toISOString() ?? null,
  requestedAt: requestedAt.toISOString(),
  actor,
});

/** Who read, exported or erased what is stored about a visitor. */
export const lookupActs = endpoint(
  privacyRoutes.lookupActs,
  async ({ config, db }: Keyed, { organization, query, body: { visitorId } }) => {
    const hash = requireVisitorHash(config.privacyKey)(organization.organizationId, visitorId);
    return { body: await pageOfActs(db, organization, query, hash) };
  },
);
