/** Who read, exported or erased what is stored about a visitor. */
import type { Database } from '#libs/base/db/database';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import type { Unsent } from '#libs/base/http/unsent';
import { organizationIn } from '#libs/tenants/bearer';
import { pageOfActs } from '#libs/tenants/handlers';
import { readInPlace } from '#libs/tenants/request-places';
import type { SharedPlaces } from '#libs/tenants/shared-places';
import { createVisitorHash } from '#libs/tenants/visitors';
import { requireKey } from './requested-visitor.ts';
import { privacyRoutes } from './routes.ts';

interface Parts {
  config: { privacyKey: Buffer | undefined };
  db: Database;
  places: Pick<SharedPlaces, 'reads'>;
  unsent: Unsent;
}

export function lookupActs({ config, db, places: { reads }, unsent }: Parts): Middleware {
  const hashOf = config.privacyKey && createVisitorHash(config.privacyKey);
  return guard(privacyRoutes.lookupActs, async (ctx, { query, body: { visitorId } }) => {
    const hash = requireKey(hashOf)(organizationIn(ctx).organizationId, visitorId);
    await readInPlace({ reads, unsent }, ctx, async () => {
      ctx.body = await pageOfActs(ctx, db, query, { hash });
    });
  });
}
