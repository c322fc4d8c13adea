/** POST /v1/organization/tokens/revoke: ends one access token, by its `jti`. */
import { z } from 'zod';
import type { Database } from '#libs/base/db/database';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { readFields } from '#libs/base/http/json-body';
import { noQuery } from '#libs/base/terms/parameters';
import { createAdministration } from './administration.ts';
import { accessIn, organizationIn } from './bearer.ts';
import { type RevokedToken, revokedTokenBody } from './contract.ts';
import { forChanges } from './in-turns.ts';
import { toQuotaProblem } from './quota.ts';
import type { SharedPlaces } from './shared-places.ts';

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
