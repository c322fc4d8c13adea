/** Erases a visitor: DELETE, or POST …/visitors/erase; and how far a large erasure is. */

import type { Database } from '#libs/base/db/database';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import type { RedisConnection } from '#libs/base/redis/connection';
import { noQuery } from '#libs/base/terms/parameters';
import { Problem } from '#libs/base/terms/problem';
import { within } from '#libs/base/within';
import { accessIn, organizationIn } from '#libs/tenants/bearer';
import { inTurn } from '#libs/tenants/in-turns';
import type { SharedPlaces } from '#libs/tenants/shared-places';
import { type Erasure, erasurePath } from './contract.ts';
import { eraseVisitor, type Erasure as Found, findErasure } from './erasures.ts';
import { rememberTombstones } from './remembered-tombstones.ts';
import { forVisitor, type Visitor } from './requested-visitor.ts';

interface Parts {
  config: { privacyKey: Buffer | undefined };
  db: Database;
  redis: RedisConnection;
  places: Pick<SharedPlaces, 'changes'>;
}

/** Milliseconds for Redis. */
const patience = 500;

export const erase = ({ config, db, redis, places }: Parts, given: 'path' | 'body'): Middleware =>
  forVisitor({ config }, given, async (ctx, visitor) => {
    const { subject: actor } = accessIn(ctx);
    const found = await inTurn(places.changes, ctx, () => eraseVisitor(db, { ...visitor, actor }));
    if (!found) return;
    await tell(redis, visitor);
    ctx.status = found.erasedAt ? 200 : 202;
    ctx.body = toAnswer(found, visitor.visitorId);
  });

export const erasure = ({ db }: { db: Database }): Middleware =>
  guard({ params: erasurePath, query: noQuery }, async (ctx, { params: { erasureId } }) => {
    const { organizationId } = organizationIn(ctx);
    const found = await db.run((sql) => findErasure(sql, organizationId, erasureId));
    if (!found) throw new Problem('erasure_not_found', 'your organization has no such erasure');
    ctx.body = toAnswer(found, found.visitorId);
  });

/** A replica that Postgres fails over to may lack what was just answered. Where Redis is away, a worker tells it later. */
async function tell(redis: RedisConnection, { organizationId, domainId, hash }: Visitor): Promise<void> {
  const tombstone = {
    organizationId,
    domainId: domainId ?? null,
    hash: hash.toString('hex'),
    erasedAt: new Date().toISOString(),
  };
  await within(patience, rememberTombstones(redis.client, [tombstone])).catch(() => {});
}

const toAnswer = ({ erasureId, records, erasedAt }: Found, visitorId: string | null): Erasure => ({
  erasureId,
  visitorId,
  state: erasedAt ? 'done' : 'running',
  records,
  erasedAt: erasedAt?.toISOString() ?? null,
});
