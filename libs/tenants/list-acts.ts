/** GET /v1/organization/acts: who did what about the organization, newest first. */
import { z } from 'zod';
import type { Database } from '#libs/base/db/database';
import type { Middleware } from '#libs/base/http/context';
import { type Binding, makeMergedCursor, readMergedCursor } from '#libs/base/http/cursor';
import { guard } from '#libs/base/http/guard';
import { listQuery } from '#libs/base/terms/parameters';
import { type ActsPosition, listActs as readActs } from './acts.ts';
import { organizationIn } from './bearer.ts';
import type { ActsPage } from './contract.ts';

const defaultLimit = 50;

export function listActs({ db }: { db: Database }): Middleware {
  return guard({ params: z.object({}), query: listQuery }, async (ctx, { query: { limit = defaultLimit, cursor } }) => {
    const { organizationId, cursorKey } = organizationIn(ctx);
    const binding = { cursorKey, domainId: '' };
    const after = cursor === undefined ? undefined : readPosition(cursor, binding);
    const { acts, next } = await db.run((sql) => readActs(sql, { organizationId, limit, after }));
    const answer: ActsPage = {
      acts: acts.map(({ at, actor, act, subject, details }) => ({
        at: at.toISOString(),
        actor,
        act,
        subject,
        details,
      })),
      nextCursor: next && makeMergedCursor('act', next.administrative, next.visitor, binding),
    };
    ctx.body = answer;
  });
}

function readPosition(cursor: string, binding: Binding): ActsPosition {
  const [administrative, visitor] = readMergedCursor(cursor, binding);
  return { administrative, visitor };
}
