/** POST /v1/organization/tokens/revoke: ends one access token, by its `jti`. */
import { z } from 'zod';
import { type RevokedToken, revokedTokenBody } from '#libs/contract/manage';
import { noQuery } from '#libs/contract/queries';
import type { Database } from '#libs/store/sql';
import { createAdministration } from '#libs/store/tenants/administration';
import { accessIn, organizationIn } from '../access/bearer.ts';
import { toQuotaProblem } from '../access/quota.ts';
import type { Middleware } from '../http/context.ts';
import { guard } from '../http/guard.ts';
import { readFields } from '../http/json-body.ts';

export const revokeToken = ({ db }: { db: Database }): Middleware =>
  guard({ params: z.object({}), query: noQuery }, async (ctx) => {
    const { jti } = await readFields(ctx, revokedTokenBody);
    const admin = createAdministration(db, accessIn(ctx).subject);
    const revoked = await admin.revokeToken(organizationIn(ctx).organizationId, jti).catch((error: unknown) => {
      throw toQuotaProblem(error);
    });
    const answer: RevokedToken = { jti, revokedAt: revoked.revokedAt.toISOString() };
    ctx.body = answer;
  });
