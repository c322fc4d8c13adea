/** Erases a visitor: DELETE, or POST …/visitors/erase; and how far a large erasure is. */

import { type Erasure, erasurePath } from '#libs/contract/privacy';
import { Problem } from '#libs/contract/problem';
import { noQuery } from '#libs/contract/queries';
import type { RedisConnection } from '#libs/runtime/redis';
import { within } from '#libs/runtime/within';
import { eraseVisitor, type Erasure as Found, findErasure } from '#libs/store/privacy/erasures';
import type { Database } from '#libs/store/sql';
import { rememberTombstones } from '#libs/witness/tombstones';
import { accessIn, organizationIn } from '../access/bearer.ts';
import { inTurn } from '../access/in-turns.ts';
import type { SharedPlaces } from '../access/shared-places.ts';
import type { Middleware } from '../http/context.ts';
import { guard } from '../http/guard.ts';
import { forVisitor, type Visitor } from './visitor.ts';

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
