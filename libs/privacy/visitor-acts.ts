/** Who read, exported or erased what is stored about a visitor. */
import type { Database } from '#libs/base/db/database';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { organizationIn } from '#libs/tenants/bearer';
import { pageOfActs } from '#libs/tenants/handlers';
import { createVisitorHash } from '#libs/tenants/visitors';
import { requireKey } from './requested-visitor.ts';
import { privacyRoutes } from './routes.ts';

interface Parts {
  config: { privacyKey: Buffer | undefined };
  db: Database;
}

export function lookupActs({ config, db }: Parts): Middleware {
  const hashOf = config.privacyKey && createVisitorHash(config.privacyKey);
  return guard(privacyRoutes.lookupActs, async (ctx, { query, body: { visitorId } }) => {
    const hash = requireKey(hashOf)(organizationIn(ctx).organizationId, visitorId);
    ctx.body = await pageOfActs(ctx, db, query, { hash });
  });
}
