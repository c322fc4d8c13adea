/** Who read, exported or erased what is stored about a visitor. */
import type { Database } from '#libs/base/db/database';
import { endpoint } from '#libs/tenants/endpoint';
import { pageOfActs } from '#libs/tenants/handlers';
import { requireVisitorHash } from './requested-visitor.ts';
import { privacyRoutes } from './routes.ts';

interface Parts {
  config: { privacyKey: Buffer | undefined };
  db: Database;
}

export const lookupActs = endpoint(
  privacyRoutes.lookupActs,
  async ({ config, db }: Parts, { organization, query, body: { visitorId } }) => {
    const hash = requireVisitorHash(config.privacyKey)(organization.organizationId, visitorId);
    return { body: await pageOfActs(db, organization, query, hash) };
  },
);
