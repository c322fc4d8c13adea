/** Erases a visitor: DELETE, or POST …/visitors/erase; and how far a large erasure is. */
import { Problem } from '#libs/contract/problem';
import { erasurePath, noQuery } from '#libs/contract/queries';
import type { Erasure } from '#libs/contract/responses';
import { eraseVisitor, type Erasure as Found, findErasure } from '#libs/store/privacy/erasures';
import type { Database } from '#libs/store/sql';
import { accessIn, organizationIn } from '../access/bearer.ts';
import type { Middleware } from '../http/context.ts';
import { guard } from '../http/guard.ts';
import { forVisitor } from './visitor.ts';

interface Parts {
  config: { privacyKey: Buffer | undefined };
  db: Database;
}

export const erase = ({ config, db }: Parts, given: 'path' | 'body'): Middleware =>
  forVisitor({ config }, given, async (ctx, visitor) => {
    const found = await eraseVisitor(db, { ...visitor, actor: accessIn(ctx).subject });
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

const toAnswer = ({ erasureId, records, erasedAt }: Found, visitorId: string | null): Erasure => ({
  erasureId,
  visitorId,
  state: erasedAt ? 'done' : 'running',
  records,
  erasedAt: erasedAt?.toISOString() ?? null,
});
