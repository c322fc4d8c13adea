/** POST /v1/organization/tokens/revoke: ends one access token, by its `jti`. */
import { z } from 'zod';
import type { Database } from '#libs/base/db/database';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { readFields } from '#libs/base/http/json-body';
import { noQuery } from '#libs/base/terms/parameters';
import { type RevokedToken, revokedTokenBody } from '#libs/contract/manage';
import { createAdministration } from '#libs/store/tenants/administration';
import { accessIn, organizationIn } from '../access/bearer.ts';
import { forChanges } from '../access/in-turns.ts';
import { toQuotaProblem } from '../access/quota.ts';
import type { SharedPlaces } from '../access/shared-places.ts';

interface Parts {
  config: { tokens: { maxLifetime: number | undefined } };
  db: Database;
  places: Pick<SharedPlaces, 'changes'>;
}

export const revokeToken = ({ config, db, places }: Parts): Middleware =>
  guard({ params: z.object({}), query: noQuery }, async (ctx) => {
    const { jti } = await readFields(ctx, revokedTokenBody);
    const admin = createAdministration(forChanges(db, places, ctx), accessIn(ctx).subject);
    const { organizationId } = organizationIn(ctx);
    const revoked = await admin.revokeToken(organizationId, jti, config.tokens.maxLifetime).catch((error: unknown) => {
      throw toQuotaProblem(error);
    });
    const answer: RevokedToken = { jti, revokedAt: revoked.revokedAt.toISOString() };
    ctx.body = answer;
  });
