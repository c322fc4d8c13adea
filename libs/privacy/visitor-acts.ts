/** POST /v1/organization/acts/lookup: who read, exported or erased what is stored about a visitor. */
import { z } from 'zod';
import type { Database } from '#libs/base/db/database';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { readFields } from '#libs/base/http/json-body';
import { listQuery } from '#libs/base/terms/parameters';
import { organizationIn } from '#libs/tenants/bearer';
import { pageOfActs } from '#libs/tenants/handlers';
import { createVisitorHash } from '#libs/tenants/visitors';
import { visitorBody } from './contract.ts';
import { requireKey } from './requested-visitor.ts';

export function lookUpActs({ config, db }: { config: { privacyKey: Buffer | undefined }; db: Database }): Middleware {
  const hashOf = config.privacyKey && createVisitorHash(config.privacyKey);
  return guard({ params: z.object({}), query: listQuery }, async (ctx, { query }) => {
    const { visitorId } = await readFields(ctx, visitorBody);
    const hash = requireKey(hashOf)(organizationIn(ctx).organizationId, visitorId);
    ctx.body = await pageOfActs(ctx, db, query, { hash });
  });
}
